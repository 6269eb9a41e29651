#!/usr/bin/env python3
"""Record what transformers says in f32 about the default model: the numbers behind the accuracy gates, so that tests need no PyTorch.

Writes into tests/goldens: minilm-l6-rerank.json (pairs with token ids and logits, format of tests/architectures/README.md),
quality/own.logits.json and, where the evaluation data is given, quality/quality-eval.logits.json (format of tests/goldens/README.md).
"""
import argparse
import hashlib
import json
import lzma
from pathlib import Path

import torch
from tokenizers import Tokenizer

import export
import golden
import model_directory

TARGET = Path(__file__).parents[2] / "tests" / "goldens"
BATCH = 16


def own_queries(path: Path) -> list[tuple[str, list[str]]]:
    content = json.loads(path.read_text(encoding="utf-8"))
    return [(q["query"], [content["passages"][at] for at in q["passages"]]) for q in content["queries"]]


def evaluation_queries(path: Path) -> list[tuple[str, list[str]]]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [(row["query"], row["passages"]) for row in map(json.loads, lines)]


def padded(encodings, name: str) -> torch.Tensor:
    longest = max(len(e.ids) for e in encodings)
    return torch.tensor([getattr(e, name) + [0] * (longest - len(e.ids)) for e in encodings])


def logits(model, tokenizer: Tokenizer, pairs: list[tuple[str, str]]) -> list[float]:
    """In the order of the pairs; batches are of pairs of similar length, and [PAD] is token 0."""
    encodings = tokenizer.encode_batch(pairs)
    order = sorted(range(len(pairs)), key=lambda at: len(encodings[at].ids))
    scores = [0.0] * len(pairs)
    for start in range(0, len(order), BATCH):
        chosen = order[start:start + BATCH]
        batch = [encodings[at] for at in chosen]
        with torch.no_grad():
            out = model(input_ids=padded(batch, "ids"), attention_mask=padded(batch, "attention_mask"),
                        token_type_ids=padded(batch, "type_ids")).logits
        for at, score in zip(chosen, out[:, 0].tolist()):
            scores[at] = score
    return scores


def write_logits(target: Path, texts: Path, queries, source: Path, model, tokenizer):
    """One list of logits a query, in passage order."""
    flat = iter(logits(model, tokenizer, [(query, passage) for query, passages in queries for passage in passages]))
    rows = [[next(flat) for _ in passages] for _, passages in queries]
    head = {"texts": texts.name, "texts_sha256": hashlib.sha256(texts.read_bytes()).hexdigest(),
            "model": model_directory.weights_digest(source)}
    lines = ",\n".join(json.dumps([float(f"{score:.7g}") for score in row]) for row in rows)
    target.write_text(f'{json.dumps(head)[:-1]}, "logits": [\n{lines}\n]}}\n', encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="Hugging Face directory of the default model")
    parser.add_argument("--evaluation", type=Path, help="quality-eval.jsonl.xz")
    args = parser.parse_args()
    model = export.load(args.source)
    limit = export.max_tokens(args.source, model)
    tokenizer = Tokenizer.from_file(str(args.source / "tokenizer.json"))
    tokenizer.enable_truncation(limit, strategy="longest_first")

    golden.write(TARGET / "minilm-l6-rerank.json", golden.record(args.source, model, export.input_names(model), limit))
    own = TARGET / "quality" / "own.json"
    write_logits(own.with_name("own.logits.json"), own, own_queries(own), args.source, model, tokenizer)
    if args.evaluation:
        queries = evaluation_queries(args.evaluation)
        write_logits(TARGET / "quality" / "quality-eval.logits.json", args.evaluation, queries, args.source, model, tokenizer)


if __name__ == "__main__":
    main()
