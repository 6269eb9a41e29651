#!/usr/bin/env python3
"""Export a Hugging Face cross-encoder with one logit to a model directory that `ranking-task --model` serves.

The directory gets model.xml and model.bin (OpenVINO IR, f32, dynamic [batch, length]) or model.onnx, tokenizer.json unchanged, and card.json.
Inputs keep their Hugging Face names; the one output is `logits`, f32 of shape [batch, 1].
"""
import argparse
import inspect
import warnings
from pathlib import Path

import openvino as ov
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import model_directory

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class Logits(torch.nn.Module):
    """The model with positional inputs and one output tensor, which is what tracing wants."""

    def __init__(self, model, names):
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *tensors):
        return self.model(**dict(zip(self.names, tensors)), return_dict=True).logits


def load(source: Path):
    """The checkpoint in f32. Eager attention, because OpenVINO fuses plain MatMul and Softmax itself."""
    model = AutoModelForSequenceClassification.from_pretrained(
        source, dtype=torch.float32, attn_implementation="eager", local_files_only=True)
    if model.config.num_labels != 1:
        raise SystemExit(f"{source}: has {model.config.num_labels} logits; a cross-encoder has one")
    return model.eval()


def input_names(model) -> list[str]:
    """The inputs the checkpoint really reads: segment ids count only where there is more than one segment."""
    accepted = inspect.signature(model.forward).parameters
    segments = getattr(model.config, "type_vocab_size", 0) or 0
    return [n for n in INPUTS if n in accepted and (n != "token_type_ids" or segments > 1)]


def example(names) -> tuple:
    """Two rows of which one is padded: an all-ones mask would let a model skip its mask, and burn that in."""
    mask = torch.ones(2, 16, dtype=torch.int64)
    mask[1, 11:] = 0
    inputs = {"input_ids": mask * 5, "attention_mask": mask, "token_type_ids": torch.zeros_like(mask)}
    return tuple(inputs[n] for n in names)


def convert(model) -> ov.Model:
    names = input_names(model)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converted = ov.convert_model(Logits(model, names), example_input=example(names))
    model_directory.name_ports(converted, names)
    return converted


def save_onnx(model, target: Path):
    names = input_names(model)
    axes = {name: {0: "batch", 1: "length"} for name in names} | {"logits": {0: "batch"}}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(Logits(model, names), example(names), target, input_names=names, output_names=["logits"],
                          dynamic_axes=axes, dynamo=False)  # tracing, as for OpenVINO, which needs no onnxscript


def max_tokens(source: Path, model) -> int:
    """Tokens a pair may have: what the tokenizer states, bounded by the positions the model can number."""
    positions = model.config.max_position_embeddings
    if model.config.model_type in ("roberta", "xlm-roberta", "camembert"):
        positions -= model.config.pad_token_id + 1  # these number positions from padding_idx + 1
    return min(AutoTokenizer.from_pretrained(source, local_files_only=True).model_max_length, positions)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="Hugging Face directory: config.json, weights, tokenizer.json")
    parser.add_argument("target", type=Path, help="model directory to write")
    parser.add_argument("--id", help="model id that clients name (default: name of the source directory)")
    parser.add_argument("--revision", help="revision of the checkpoint (default: digest of the weights)")
    parser.add_argument("--license", default="unknown", help="licence of the weights, as an SPDX expression")
    parser.add_argument("--origin", default="", help="where the checkpoint comes from, for the card")
    parser.add_argument("--format", default="openvino", choices=("openvino", "onnx"))
    parser.add_argument("--score-kind", default="logit", choices=("logit", "probability", "unbounded"))
    args = parser.parse_args()
    export(args.source, args.target, args)


def export(source: Path, target: Path, args):
    model = load(source)
    card = {
        "id": args.id or source.name,
        "revision": args.revision or model_directory.weights_digest(source),
        "family": model.config.model_type,
        "precision": "f32",
        "max_tokens": max_tokens(source, model),
        "score_kind": args.score_kind,
        "license": args.license,
        "source": args.origin,
    }
    if args.format == "openvino":
        return model_directory.write(target, convert(model), source / "tokenizer.json", card)
    target.mkdir(parents=True, exist_ok=True)
    save_onnx(model, target / "model.onnx")
    model_directory.describe(target, source / "tokenizer.json", card)


if __name__ == "__main__":
    main()
