"""langchain-community: JinaRerank. It knows one address, a constant of its module, and one error type for everything."""

from expect import check_ranking, check_refusals, told
from langchain_community.document_compressors import JinaRerank, jina_rerank
from langchain_core.documents import Document


def rank(url, key="any", query=told.query):
    jina_rerank.JINA_API_URL = url + "/v1/rerank"
    client = JinaRerank(model=told.model, jina_api_key=key, top_n=len(told.passages))
    documents = [Document(page_content=text, metadata={"place": place}) for place, text in enumerate(told.passages)]
    ranked = client.compress_documents(documents, query)
    return [(document.metadata["place"], document.metadata["relevance_score"]) for document in ranked]


check_ranking(rank(told.open), logistic_scores=True)
check_ranking(rank(told.locked, told.key), logistic_scores=True)
check_refusals(
    rank,
    dict.fromkeys([400, 401, 422, 429, 503], RuntimeError),
    lambda error, status, words: words in str(error),
)
