#!/usr/bin/env python3
"""Quantize a model directory to int8: static post-training quantization by NNCF, calibrated on the texts in calibration/.

Static, so that a score does not depend on what else is in the batch. Kept in f32: the pooler and the classifier, which are a
thousandth of the work and, in int8, cause most of the error (Pearson correlation with f32 on XQuAD 0.945 with them, 0.996 without).
"""
import argparse
import random
from pathlib import Path

import nncf
import numpy as np
import openvino as ov
from tokenizers import Tokenizer

import calibration_texts
import model_directory

KEEP_F32 = [".*pooler.*", ".*classifier.*"]


def calibration(source: Path, inputs: list[str], max_tokens: int) -> list[dict[str, np.ndarray]]:
    """Model inputs of every calibration pair, each alone and unpadded, in an order that mixes lengths and subjects."""
    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    pairs = calibration_texts.pairs()
    random.Random(0).shuffle(pairs)
    return [model_inputs(tokenizer.encode(*pair), inputs) for pair in pairs]


def model_inputs(encoding, names: list[str]) -> dict[str, np.ndarray]:
    values = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids}
    return {name: np.array([values[name]], np.int64) for name in names}


def quantize(model: ov.Model, samples: list[dict[str, np.ndarray]], keep_f32: list[str], alpha: float) -> ov.Model:
    smooth = nncf.AdvancedSmoothQuantParameters(matmul=alpha)
    return nncf.quantize(
        model, nncf.Dataset(samples), subset_size=len(samples), model_type=nncf.ModelType.TRANSFORMER,
        ignored_scope=nncf.IgnoredScope(patterns=keep_f32, validate=False),
        advanced_parameters=nncf.AdvancedQuantizationParameters(smooth_quant_alphas=smooth))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="f32 model directory, from export.py")
    parser.add_argument("target", type=Path, help="int8 model directory to write")
    parser.add_argument("--keep-f32", nargs="*", default=KEEP_F32, metavar="REGEX", help="operations to leave in f32")
    parser.add_argument("--smooth-quant-alpha", type=float, default=0.95, metavar="A",
                        help="how much of the activations' range moves into the weights, 0 to 1 (default 0.95)")
    args = parser.parse_args()
    card = model_directory.read_card(args.source)
    model = ov.Core().read_model(args.source / "model.xml")
    samples = calibration(args.source, [port.get_any_name() for port in model.inputs], card["max_tokens"])
    quantized = quantize(model, samples, args.keep_f32, args.smooth_quant_alpha)
    model_directory.write(args.target, quantized, args.source / "tokenizer.json", card | {"precision": "int8"})


if __name__ == "__main__":
    main()
