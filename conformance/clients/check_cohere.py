"""cohere: ClientV2 and version 1's Client."""

import cohere
from cohere.errors import (
    BadRequestError,
    ServiceUnavailableError,
    TooManyRequestsError,
    UnauthorizedError,
    UnprocessableEntityError,
)
from expect import check_ranking, check_refusals, told


def with_client(client_type):
    def rank(url, key="any", query=told.query, documents=told.passages, **options):
        client = client_type(api_key=key, base_url=url)
        answer = client.rerank(model=told.model, query=query, documents=documents, **options)
        for hit in answer.results:
            document = getattr(hit, "document", None)
            assert bool(document) == options.get("return_documents", False)
            assert not document or document.text == told.passages[hit.index]
        return [(hit.index, hit.relevance_score) for hit in answer.results]

    return rank


def check(rank):
    check_ranking(rank(told.open), logistic_scores=True)
    check_ranking(rank(told.locked, told.key), logistic_scores=True)
    assert rank(told.open, top_n=2) == rank(told.open)[:2]
    errors = {
        400: BadRequestError,
        401: UnauthorizedError,
        422: UnprocessableEntityError,
        429: TooManyRequestsError,
        503: ServiceUnavailableError,
    }
    check_refusals(
        rank, errors, lambda error, status, words: error.status_code == status and words in error.body["message"]
    )


version_1 = with_client(cohere.Client)
check(with_client(cohere.ClientV2))
check(version_1)
check_ranking(version_1(told.open, documents=[{"text": text} for text in told.passages], return_documents=True), logistic_scores=True)
