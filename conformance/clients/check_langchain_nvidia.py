"""langchain-nvidia-ai-endpoints: NVIDIARerank."""

from expect import check_ranking, check_refusals, told
from langchain_core.documents import Document
from langchain_nvidia_ai_endpoints import NVIDIARerank


def rank(url, key=None, query=told.query, **options):
    client = NVIDIARerank(model=told.model, base_url=url, api_key=key, top_n=len(told.passages), **options)
    documents = [Document(page_content=text, metadata={"place": place}) for place, text in enumerate(told.passages)]
    ranked = client.compress_documents(query=query, documents=documents)
    return [(document.metadata["place"], document.metadata["relevance_score"]) for document in ranked]


check_ranking(rank(told.open + "/v1"))
check_ranking(rank(told.open, truncate="END"))  # the client appends /v1 itself
check_ranking(rank(told.locked, told.key))
assert told.model in [model.id for model in NVIDIARerank(base_url=told.open).available_models]
check_refusals(
    rank,
    dict.fromkeys([400, 401, 422, 429, 503], Exception),
    lambda error, status, words: str(error).startswith(f"[{status}]") and words in str(error),
)
