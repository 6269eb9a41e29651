//! Static library over Hugging Face's `tokenizers` for the native Task; `include/ranking_tokenizer.h` is the interface and its documentation.

mod ffi;
mod pair;
mod piece;
mod reserve;

/// Of the crate whose tokens these are, as Cargo.toml pins it.
pub const TOKENIZERS_VERSION: &std::ffi::CStr = c"0.23.1";

pub use pair::{Cut, Pair, PairTokenizer, Query};

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_is_the_pinned_one() {
        let pin = format!("tokenizers = {{ version = \"={}\"", super::TOKENIZERS_VERSION.to_str().unwrap());
        assert!(include_str!("../Cargo.toml").contains(&pin), "{pin}");
    }
}
