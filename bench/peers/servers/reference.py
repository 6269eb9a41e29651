"""Writes the logits that every server is checked against: transformers in f32, one pair at a time, so without padding.

Usage: reference.py MODEL_DIR WORKLOADS_DIR > reference-logits.json
"""

import gzip
import hashlib
import json
import os
import sys

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

CHECKED = {"W3": 8, "W1": 1}  # workload: how many of its requests


def main(model_dir, workloads_dir):
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    model = AutoModelForSequenceClassification.from_pretrained(model_dir, dtype=torch.float32).eval()

    def logit(query, passage):
        with torch.inference_mode():
            pair = tokenizer(query, passage, truncation=True, max_length=512, return_tensors="pt")
            return model(**pair).logits[0, 0].item()

    out = []
    for name, count in CHECKED.items():
        with gzip.open(os.path.join(workloads_dir, name + ".jsonl.gz")) as f:
            data = f.read()
        requests = [json.loads(line) for line in data.splitlines()[:count]]
        logits = [[logit(r["query"], p) for p in r["passages"]] for r in requests]
        out.append({"workload": name, "digest": "sha256:" + hashlib.sha256(data).hexdigest(), "logits": logits})
    json.dump(out, sys.stdout)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
