"""llama-index-postprocessor-nvidia-rerank: NVIDIARerank."""

from expect import check_order, check_ranking, check_refusals, told
from httpx import HTTPStatusError
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.nvidia_rerank import NVIDIARerank


def rank(url, key=None, query=told.query, **options):
    client = NVIDIARerank(model=told.model, base_url=url + "/v1", api_key=key, top_n=len(told.passages), **options)
    nodes = [NodeWithScore(node=TextNode(text=text, id_=str(place))) for place, text in enumerate(told.passages)]
    return [(int(hit.node.node_id), hit.score) for hit in client.postprocess_nodes(nodes, query_str=query)]


check_ranking(rank(told.open))
check_ranking(rank(told.open, truncate="END"))
check_ranking(rank(told.locked, told.key))
check_order(rank(told.open, max_batch_size=3))  # of three requests
check_refusals(
    rank,
    dict.fromkeys([400, 401, 422, 429, 503], HTTPStatusError),
    lambda error, status, words: error.response.status_code == status and words in error.response.text,
)
