#!/usr/bin/env python3
"""Build the f32 model directory of a BERT cross-encoder from its safetensors file with numpy and OpenVINO alone.

export.py does this for every architecture but needs PyTorch, which is too heavy for each run of the tests. This one writes the BERT
graph out by hand, so the f32 gate needs nothing beyond the OpenVINO wheel and numpy.
"""
import argparse
import json
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op

import model_directory

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """All tensors of a file as f32: u64 header length, JSON header with offsets, raw little-endian data."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:start])
    header.pop("__metadata__", None)
    kinds = {"F16": np.float16, "F32": np.float32}
    return {name: np.frombuffer(raw[start + t["data_offsets"][0]:start + t["data_offsets"][1]], kinds[t["dtype"]])
            .reshape(t["shape"]).astype(np.float32) for name, t in header.items()}


class Bert:
    """Writes the graph; one method per part of the network. Hidden states are [batch, length, hidden]."""

    def __init__(self, config: dict, weights: dict[str, np.ndarray]):
        if config["hidden_act"] != "gelu" or config.get("position_embedding_type", "absolute") != "absolute":
            raise SystemExit("only BERT with erf GELU and absolute positions is built by hand; use export.py")
        self.config = config
        self.weights = weights

    def linear(self, states, name: str):
        product = op.matmul(states, self.weights[f"{name}.weight"], False, True)
        return op.add(product, self.weights[f"{name}.bias"])

    def norm(self, states, name: str):
        centred = op.mvn(states, np.array([-1]), True, self.config["layer_norm_eps"], "inside_sqrt")
        return op.add(op.multiply(centred, self.weights[f"{name}.weight"]), self.weights[f"{name}.bias"])

    def gather(self, name: str, indices):
        return op.gather(self.weights[f"bert.embeddings.{name}_embeddings.weight"], indices, np.int64(0))

    def embeddings(self, ids, segments):
        length = op.gather(op.shape_of(ids), np.int64(1), np.int64(0))
        positions = op.range(np.int64(0), length, np.int64(1), "i64")
        words = op.add(self.gather("word", ids), self.gather("token_type", segments))
        return self.norm(op.add(words, self.gather("position", positions)), "bert.embeddings.LayerNorm")

    def heads(self, states, name: str):
        """[batch, length, hidden] to [batch, heads, length, hidden / heads]."""
        count = self.config["num_attention_heads"]
        shape = np.array([0, 0, count, self.config["hidden_size"] // count])
        return op.transpose(op.reshape(self.linear(states, name), shape, True), np.array([0, 2, 1, 3]))

    def attention(self, states, bias, name: str):
        query, key, value = (self.heads(states, f"{name}.self.{part}") for part in ("query", "key", "value"))
        scale = np.float32((self.config["hidden_size"] // self.config["num_attention_heads"]) ** -0.5)
        scores = op.add(op.multiply(op.matmul(query, key, False, True), scale), bias)
        mixed = op.transpose(op.matmul(op.softmax(scores, -1), value, False, False), np.array([0, 2, 1, 3]))
        merged = op.reshape(mixed, np.array([0, 0, self.config["hidden_size"]]), True)
        return self.norm(op.add(self.linear(merged, f"{name}.output.dense"), states), f"{name}.output.LayerNorm")

    def layer(self, states, bias, name: str):
        states = self.attention(states, bias, f"{name}.attention")
        inner = op.gelu(self.linear(states, f"{name}.intermediate.dense"), "erf")
        return self.norm(op.add(self.linear(inner, f"{name}.output.dense"), states), f"{name}.output.LayerNorm")

    def model(self) -> ov.Model:
        inputs = [op.parameter([-1, -1], np.int64) for _ in INPUTS]
        ids, mask, segments = inputs
        absent = op.subtract(np.float32(1), op.convert(op.unsqueeze(mask, np.array([1, 2])), "f32"))
        bias = op.multiply(absent, np.finfo(np.float32).min)
        states = self.embeddings(ids, segments)
        for number in range(self.config["num_hidden_layers"]):
            states = self.layer(states, bias, f"bert.encoder.layer.{number}")
        first = op.gather(states, np.int64(0), np.int64(1))
        logits = self.linear(op.tanh(self.linear(first, "bert.pooler.dense")), "classifier")
        model = ov.Model([logits], inputs, "bert")
        model_directory.name_ports(model, INPUTS)
        return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="Hugging Face directory of a BERT cross-encoder")
    parser.add_argument("target", type=Path, help="model directory to write")
    args = parser.parse_args()
    config = json.loads((args.source / "config.json").read_text(encoding="utf-8"))
    model = Bert(config, read_safetensors(args.source / "model.safetensors")).model()
    model_directory.write(args.target, model, args.source / "tokenizer.json", {
        "id": args.source.name,
        "revision": model_directory.weights_digest(args.source),
        "family": "bert",
        "precision": "f32",
        "max_tokens": config["max_position_embeddings"],
        "score_kind": "logit",
    })


if __name__ == "__main__":
    main()
