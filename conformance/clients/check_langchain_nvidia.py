"""langchain-nvidia-ai-endpoints: NVIDIARerank."""

import asyncio

from expect import check_order, check_ranking, check_refusals, told
from langchain_core.documents import Document
from langchain_nvidia_ai_endpoints import NVIDIARerank


documents = [Document(page_content=text, metadata={"place": place}) for place, text in enumerate(told.passages)]


def rerank(url, key=None, **options):
    return NVIDIARerank(model=told.model, base_url=url, api_key=key, top_n=len(documents), **options)


def hits(ranked):
    return [(document.metadata["place"], document.metadata["relevance_score"]) for document in ranked]


def rank(url, key=None, query=told.query, **options):
    return hits(rerank(url, key, **options).compress_documents(query=query, documents=documents))


def rank_async(url, key=None, query=told.query):
    return hits(asyncio.run(rerank(url, key).acompress_documents(query=query, documents=documents)))


check_ranking(rank(told.open + "/v1"))
check_ranking(rank(told.open, truncate="END"))  # the client appends /v1 itself
check_ranking(rank(told.locked, told.key))
check_ranking(rank_async(told.open))
check_order(rank(told.open, max_batch_size=3))  # of three requests
assert told.model in [model.id for model in NVIDIARerank(base_url=told.open).available_models]
for way in rank, rank_async:
    check_refusals(
        way,
        dict.fromkeys([400, 401, 422, 429, 503], Exception),
        lambda error, status, words: str(error).startswith(f"[{status}]") and words in str(error),
    )
