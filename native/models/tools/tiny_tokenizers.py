"""Small tokenizers with the same parts as the real ones of each architecture, trained on our own wording."""
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

import calibration_texts
import golden

VOCABULARY = 700


def corpus() -> list[str]:
    """English calibration texts, and the multilingual golden pairs so that their scripts are not all unknown."""
    english = [passage for _, passage in calibration_texts.blocks()]
    return english + [text for pair in golden.PAIRS[:10] for text in pair] * 4 + golden.GENERATED_WORDS * 4


def pair_template(tokenizer: Tokenizer, single: str, pair: str, special: list[str]):
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(token, tokenizer.token_to_id(token)) for token in special])


def wordpiece() -> Tokenizer:
    """BERT: cleaned, lower-cased text cut at spaces and punctuation, then greedy longest match with ## continuations."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(corpus(), trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=special))
    pair_template(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"])
    return tokenizer


def unigram(special: list[str], unknown: str) -> Tokenizer:
    """SentencePiece's unigram model: compatibility forms folded, spaces turned into a visible mark, most likely cut."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.train_from_iterator(
        corpus(), trainers.UnigramTrainer(vocab_size=VOCABULARY, special_tokens=special, unk_token=unknown))
    return tokenizer


def xlm_roberta() -> Tokenizer:
    """Two separators between the texts and one segment only."""
    tokenizer = unigram(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "<unk>")
    pair_template(tokenizer, "<s> $A </s>", "<s> $A </s> </s> $B </s>", ["<s>", "</s>"])
    return tokenizer


def deberta_v2() -> Tokenizer:
    tokenizer = unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], "[UNK]")
    pair_template(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"])
    return tokenizer


def modernbert() -> Tokenizer:
    """Byte-level BPE: every byte has a token, so nothing is unknown."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    pair_template(tokenizer, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"])
    return tokenizer
