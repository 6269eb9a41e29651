"""Golden records: pairs of texts with the token ids and the logit that transformers gives, in the format of tests/architectures/README.md."""
import json
from pathlib import Path

import torch
from transformers import AutoTokenizer

# Words of the generated texts: several scripts, so that truncation cuts between tokens of every kind.
GENERATED_WORDS = ["river", "Brücke", "lantern", "мост", "glass", "ποτάμι", "seven", "灯台", "harbour", "نهر", "winter,", "copper."]

PAIRS = [
    ("How deep is the harbour?", "The harbour is nine metres deep at low tide, and eleven when the moon is new."),
    ("how deep is the harbour", "Bread rises faster in a warm kitchen."),
    ("Café crème, naïve façade — 12 €?", "ÀÉÎÕÜ ß ſ ﬁ ½ Ω: Ærøskøbing's smörgåsbord costs 1.234,50 kr."),
    ("灯台はどこにありますか", "灯台は岬の先にあり、夜になると海を照らします。"),
    ("桥有多长？", "这座桥长三百米，建于一九二八年。"),
    ("다리는 얼마나 깁니까", "그 다리는 삼백 미터이며 돌로 지어졌습니다."),
    ("كم يبلغ طول الجسر؟", "يبلغ طول الجسر ثلاثمئة متر، وقد بُنِيَ مِنَ الحَجَر."),
    ("पुल कितना लंबा है?", "पुल तीन सौ मीटर लंबा है और पत्थर से बना है।"),
    ("which animal 🐙 has three hearts?", "🐙🐙 An octopus has three hearts 👩‍🚀🏳️‍🌈 and blue blood 🫀."),
    ("e\u0301clair o\u0308ffnen", "A\u030angstro\u0308m cafe\u0301 n\u0303 q\u0323\u0307 \u0e01\u0e33 \u1112\u1161\u11ab"),
    ("what does [SEP] mean", "The token [SEP] ends a segment; [CLS] begins it, [MASK] and [PAD] [UNK] have other uses."),
    ("what does </s> mean", "<s> opens a text and </s> closes it; <pad>, <unk> and <mask> are not words."),
    ("?", "."),
    ("a", " \t\n\u00a0\u3000 "),
    ("zero\u200bwidth \ufeffmark", "soft\u00adhyphen \u202eright to left\u202c \u0000 null and \ufffd replacement"),
    ("WHY DO CAPITALS MATTER", "why do capitals matter"),
    ("x" * 300, "y" * 90 + " " + "z" * 120),
    ("snake_case CamelCase kebab-case", "for (int i = 0; i < n; ++i) { sum += a[i] * 0x1F; }  // 100%"),
]

# (query, passage) where a number stands for a generated text of that many words. Not two very long ones: truncating both sides, the
# tokenizers library builds every combination of the parts it cut off, which took 20 GB for 10,000 words on each side.
GENERATED = [("how long is the bridge", 10_000), (10_000, "short passage"), (600, 600), (6, 40)]


def generate(words: int, seed: int) -> str:
    """A text that any language can make again: a 31-bit linear congruential generator picks each word by its high bits."""
    state, picked = seed, []
    for _ in range(words):
        state = (state * 1103515245 + 12345) % 2**31
        picked.append(GENERATED_WORDS[(state >> 16) % len(GENERATED_WORDS)])
    return " ".join(picked)


def side(text, seed: int) -> tuple[str, object]:
    """A text and how the record stores it: itself, or what makes it again."""
    return (text, text) if isinstance(text, str) else (generate(text, seed), {"words": text, "seed": seed})


def score(model, encoded) -> float:
    inputs = {name: torch.tensor([values]) for name, values in encoded.items()}
    with torch.no_grad():
        return float(model(**inputs).logits[0, 0])


def record(source: Path, model, names: list[str], max_tokens: int) -> dict:
    tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=True)
    pairs = []
    for query, passage in PAIRS + GENERATED:
        (query, query_record), (passage, passage_record) = side(query, 1), side(passage, 2)
        encoded = tokenizer(query, passage, truncation="longest_first", max_length=max_tokens, return_token_type_ids=True)
        pairs.append({"query": query_record, "passage": passage_record, "ids": encoded["input_ids"],
                      "type_ids": encoded["token_type_ids"],
                      "logit": score(model, {name: encoded[name] for name in names})})
    return {"max_tokens": max_tokens, "generated_words": GENERATED_WORDS, "pairs": pairs}


def write(path: Path, content: dict):
    """One pair a line, so that a change shows in a diff."""
    pairs = ",\n".join(json.dumps(pair, ensure_ascii=True) for pair in content.pop("pairs"))
    head = json.dumps(content, ensure_ascii=False)[:-1]
    path.write_text(f'{head}, "pairs": [\n{pairs}\n]}}\n', encoding="utf-8")
