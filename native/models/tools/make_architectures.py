#!/usr/bin/env python3
"""Make tests/architectures: tiny cross-encoders with random weights, exported by export.py, and what transformers says about them.

Each is saved as an ordinary Hugging Face checkpoint first and then takes the way any user's model takes. The files are the same for
every run with the versions of requirements.txt.
"""
import argparse
import tempfile
from argparse import Namespace
from pathlib import Path

import torch
from transformers import (BertConfig, BertForSequenceClassification, DebertaV2Config, DebertaV2ForSequenceClassification,
                          ModernBertConfig, ModernBertForSequenceClassification, PreTrainedTokenizerFast,
                          XLMRobertaConfig, XLMRobertaForSequenceClassification)

import export
import golden
import tiny_tokenizers

TARGET = Path(__file__).parents[2] / "tests" / "architectures"
SIZE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "num_labels": 1}

# Weights this large give logits that spread over several units, so that a wrong segment, mask or position shows.
INIT = 0.4

# One of them in the other form that the Task loads, with the same weights.
ONNX = {"bert-onnx": "bert"}


def bert(vocabulary: int):
    return BertForSequenceClassification(BertConfig(
        **SIZE, vocab_size=vocabulary, max_position_embeddings=128, type_vocab_size=2, pad_token_id=0))


def xlm_roberta(vocabulary: int):
    return XLMRobertaForSequenceClassification(XLMRobertaConfig(
        **SIZE, vocab_size=vocabulary, max_position_embeddings=130, type_vocab_size=1, pad_token_id=1, bos_token_id=0,
        eos_token_id=2))


def deberta_v2(vocabulary: int):
    """As the published v3 checkpoints: relative positions in log buckets, content-to-position and back, no segments."""
    return DebertaV2ForSequenceClassification(DebertaV2Config(
        **SIZE, vocab_size=vocabulary, max_position_embeddings=128, type_vocab_size=0, pad_token_id=0,
        relative_attention=True, position_buckets=16, norm_rel_ebd="layer_norm", share_att_key=True,
        pos_att_type=["p2c", "c2p"], position_biased_input=False, max_relative_positions=-1, pooler_hidden_size=32,
        pooler_hidden_act="gelu", pooler_dropout=0.0))


def modernbert(vocabulary: int):
    """One layer of global and one of local attention, whose window is shorter than the limit."""
    return ModernBertForSequenceClassification(ModernBertConfig(
        **SIZE, vocab_size=vocabulary, max_position_embeddings=128, pad_token_id=0, cls_token_id=1, sep_token_id=2,
        bos_token_id=1, eos_token_id=2, global_attn_every_n_layers=2, local_attention=32, classifier_pooling="mean"))


ARCHITECTURES = {
    "bert": (bert, tiny_tokenizers.wordpiece, dict(
        cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")),
    "xlm-roberta": (xlm_roberta, tiny_tokenizers.xlm_roberta, dict(
        bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>", pad_token="<pad>", unk_token="<unk>",
        mask_token="<mask>")),
    "deberta-v2": (deberta_v2, tiny_tokenizers.deberta_v2, dict(
        cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")),
    "modernbert": (modernbert, tiny_tokenizers.modernbert, dict(
        cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")),
}


def randomize(model):
    """Replace every weight: matrices wide, norms around one, biases around zero."""
    generator = torch.Generator().manual_seed(20)
    for name, weight in model.state_dict().items():
        if not weight.is_floating_point():
            continue
        noise = torch.randn(weight.shape, generator=generator) * (INIT if weight.dim() > 1 else 0.1)
        weight.copy_(noise + (1.0 if weight.dim() == 1 and name.endswith("weight") else 0.0))
    return model.eval()


def checkpoint(name: str, folder: Path):
    """Save an ordinary Hugging Face directory."""
    build, train_tokenizer, special = ARCHITECTURES[name]
    tokenizer = train_tokenizer()
    with torch.no_grad():
        randomize(build(tokenizer.get_vocab_size())).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, **special).save_pretrained(folder)


def make(name: str):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        checkpoint(ONNX.get(name, name), source)
        export.export(source, TARGET / name, Namespace(
            id=f"tiny-{name}", revision="1", license="CC0-1.0", score_kind="logit", format="onnx" if name in ONNX else "openvino",
            origin="random weights, native/models/tools/make_architectures.py"))
        model = export.load(source)
        golden.write(TARGET / name / "golden.json", golden.record(
            source, model, export.input_names(model), export.max_tokens(source, model)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[*ARCHITECTURES, *ONNX], help="architectures to make (default: all)")
    for name in parser.parse_args().names:
        make(name)


if __name__ == "__main__":
    main()
