"""litellm: rerank of the providers nvidia_nim, in both forms, huggingface and cohere."""

import litellm
from expect import check_ranking, check_refusals, told


def with_provider(name):
    def rank(url, key="any", query=told.query, **options):
        answer = litellm.rerank(name, query, told.passages, api_base=url, api_key=key, **options)
        return [(hit["index"], hit["relevance_score"]) for hit in answer.results]

    return rank


def check(rank, logistic_scores, error_of_422):
    check_ranking(rank(told.open), logistic_scores)
    check_ranking(rank(told.locked, told.key), logistic_scores)
    errors = {
        400: litellm.BadRequestError,
        401: litellm.AuthenticationError,
        422: error_of_422,
        429: litellm.RateLimitError,
        503: litellm.ServiceUnavailableError,
    }
    check_refusals(rank, errors, lambda error, status, words: error.status_code == status and words in str(error))


check(with_provider(f"nvidia_nim/{told.model}"), False, litellm.BadRequestError)
check(with_provider(f"nvidia_nim/ranking/{told.model}"), False, litellm.BadRequestError)
check(with_provider(f"huggingface/{told.model}"), True, litellm.APIError)
check(with_provider(f"cohere/{told.model}"), True, litellm.BadRequestError)

hosted = with_provider(f"nvidia_nim/{told.alias}")  # organisation and model in the path, and _ in the path only
check_ranking(hosted(told.open))
assert hosted(told.open, top_n=2) == hosted(told.open)[:2]
