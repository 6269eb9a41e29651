"""llama-index-postprocessor-tei-rerank: TextEmbeddingInference.

It does not look at the status. What it makes of an error is that an object has fewer members than there are texts.
"""

from expect import check_ranking, check_refusals, told
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.tei_rerank import TextEmbeddingInference


def rank(url, key=None, query=told.query):
    token = f"Bearer {key}" if key else None
    client = TextEmbeddingInference(base_url=url, auth_token=token, top_n=len(told.passages))
    nodes = [NodeWithScore(node=TextNode(text=text, id_=str(place))) for place, text in enumerate(told.passages)]
    return [(int(hit.node.node_id), hit.score) for hit in client.postprocess_nodes(nodes, query_str=query)]


check_ranking(rank(told.open), logistic_scores=True)
check_ranking(rank(told.locked, told.key), logistic_scores=True)
check_refusals(rank, dict.fromkeys([400, 401, 422, 429, 503], AssertionError), lambda *_: True)
