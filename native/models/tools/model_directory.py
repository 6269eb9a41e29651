"""The model directory that ranking-task loads: model.xml and model.bin or model.onnx, tokenizer.json, card.json."""
import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import openvino as ov


def write(target: Path, model: ov.Model, tokenizer: Path, card: dict):
    """Write a whole directory. Weights keep the types they have in the model."""
    target.mkdir(parents=True, exist_ok=True)
    ov.save_model(model, target / "model.xml", compress_to_fp16=False)
    describe(target, tokenizer, card)


def describe(target: Path, tokenizer: Path, card: dict):
    """Write what stands beside the model."""
    shutil.copyfile(tokenizer, target / "tokenizer.json")
    (target / "card.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def name_ports(model: ov.Model, inputs: Sequence[str]):
    """Give the inputs their Hugging Face names and dynamic [batch, length], and call the output logits."""
    for port, name in zip(model.inputs, inputs, strict=True):
        port.get_tensor().set_names({name})
        port.get_node().set_friendly_name(name)
        port.get_node().set_partial_shape(ov.PartialShape([-1, -1]))
    model.outputs[0].get_tensor().set_names({"logits"})
    model.validate_nodes_and_infer_types()


def read_card(source: Path) -> dict:
    return json.loads((source / "card.json").read_text(encoding="utf-8"))


def weights_digest(source: Path) -> str:
    """A revision for a checkpoint that names none: the head of the SHA-256 over its weight files."""
    digest = hashlib.sha256()
    for path in sorted(source.glob("*.safetensors")):
        digest.update(path.read_bytes())
    return "sha256-" + digest.hexdigest()[:16]
