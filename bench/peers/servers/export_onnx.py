"""Writes model.onnx (f32) and model-int8.onnx (onnxruntime's dynamic quantization) with the tokenizer beside them, for the onnx lanes.

Usage: export_onnx.py MODEL_DIR OUT_DIR
"""

import os
import shutil
import sys

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModelForSequenceClassification, AutoTokenizer


def main(model_dir, out_dir):
    os.makedirs(out_dir, exist_ok=True)
    shutil.copy(os.path.join(model_dir, "tokenizer.json"), out_dir)
    model = AutoModelForSequenceClassification.from_pretrained(model_dir, dtype=torch.float32).eval()
    sample = AutoTokenizer.from_pretrained(model_dir)(["a query", "query"], ["a passage", "text"], padding=True, return_tensors="pt")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    dynamic = {n: {0: torch.export.Dim("batch"), 1: torch.export.Dim("tokens", max=512)} for n in names}
    f32 = os.path.join(out_dir, "model.onnx")
    torch.onnx.export(
        model,
        kwargs={n: sample[n] for n in names},
        f=f32,
        input_names=names,
        output_names=["logits"],
        dynamic_shapes=dynamic,
        external_data=False,
    )
    quantize_dynamic(f32, os.path.join(out_dir, "model-int8.onnx"), weight_type=QuantType.QInt8)


if __name__ == "__main__":
    main(*sys.argv[1:])
