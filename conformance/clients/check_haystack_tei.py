"""huggingface-api-haystack: HuggingFaceTEIRanker."""

from expect import check_ranking, check_refusals, told
from haystack import Document
from haystack.utils import Secret
from haystack_integrations.components.rankers.huggingface_api import HuggingFaceTEIRanker, TruncationDirection


def rank(url, key=None, query=told.query, direction=None, **options):
    ranker = HuggingFaceTEIRanker(
        url=url, token=Secret.from_token(key) if key else None, top_k=len(told.passages), max_retries=2, **options
    )
    documents = [Document(content=text, meta={"place": place}) for place, text in enumerate(told.passages)]
    ranked = ranker.run(query, documents, truncation_direction=direction)
    return [(document.meta["place"], document.score) for document in ranked["documents"]]


check_ranking(rank(told.open), logistic_scores=True)
check_ranking(rank(told.open, raw_scores=True))
check_ranking(rank(told.open, raw_scores=True, direction=TruncationDirection.RIGHT))
check_ranking(rank(told.locked, told.key), logistic_scores=True)
check_refusals(
    rank,
    dict.fromkeys([400, 401, 422, 429, 503], RuntimeError),
    lambda error, status, words: error.__cause__.response.status_code == status and words in str(error),
)
