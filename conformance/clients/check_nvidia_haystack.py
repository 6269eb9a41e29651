"""nvidia-haystack: NvidiaRanker."""

from expect import check_ranking, check_refusals, told
from haystack import Document
from haystack.utils import Secret
from haystack_integrations.components.rankers.nvidia import NvidiaRanker


def rank(url, key=None, query=told.query, model=told.model, **options):
    ranker = NvidiaRanker(
        model=model, api_url=url, api_key=Secret.from_token(key) if key else None, top_k=len(told.passages), **options
    )
    documents = [Document(content=text, meta={"place": place}) for place, text in enumerate(told.passages)]
    return [(document.meta["place"], document.score) for document in ranker.run(query, documents)["documents"]]


check_ranking(rank(told.open))
check_ranking(rank(told.open, truncate="END"))
check_ranking(rank(told.open, model=None))  # sent as null
check_ranking(rank(told.locked, told.key))
check_refusals(
    rank,
    dict.fromkeys([400, 401, 422, 429, 503], ValueError),
    lambda error, status, words: error.__cause__.response.status_code == status and words in str(error),
)
