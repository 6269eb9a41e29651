//! Static library over Hugging Face's `tokenizers` for the native Task; `include/ranking_tokenizer.h` is the interface and its documentation.

mod ffi;
mod pair;
mod piece;
mod reserve;

pub use pair::{Cut, Pair, PairTokenizer, Query};
