//! Cuts a long text into pieces that can be tokenized apart, so that the cost of a text is bounded by the tokens wanted from it.
//!
//! A cut falls before the first white space that follows something else, where word-based tokenizers (WordPiece, Unigram and BPE
//! behind a white-space or byte-level pre-tokenizer) start a word in any case. Only a run of more than `MAX` bytes without white
//! space is cut inside; there, ids next to the cut may differ from those of the uncut text.

/// Pieces are at least this long (bytes), unless the text ends.
pub const MIN: usize = 16 << 10;
/// And at most this long.
pub const MAX: usize = 64 << 10;

/// Length of the first piece of `text`.
pub fn first(text: &str) -> usize {
    if text.len() <= MIN {
        return text.len();
    }
    let start = floor(text, MIN);
    let end = floor(text, MAX);
    word_ends(&text[..end], start).next().unwrap_or(end)
}

/// Offset at which the last piece of `text` starts.
pub fn last(text: &str) -> usize {
    if text.len() <= MIN {
        return 0;
    }
    let start = floor(text, text.len().saturating_sub(MAX));
    let end = floor(text, text.len() - MIN);
    word_ends(&text[..end], start).last().unwrap_or(start)
}

/// Offsets at or after `from` where white space follows something else.
fn word_ends(text: &str, from: usize) -> impl Iterator<Item = usize> + '_ {
    let mut after_word = false;
    text[from..].char_indices().filter_map(move |(i, c)| {
        let ends = after_word && c.is_whitespace();
        after_word = !c.is_whitespace();
        ends.then_some(from + i)
    })
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_one_piece() {
        assert_eq!(first("a few words"), 11);
        assert_eq!(last("a few words"), 0);
        assert_eq!(first(""), 0);
    }

    #[test]
    fn cuts_before_white_space() {
        let text = "word ".repeat(20_000);
        let (head, tail) = (first(&text), last(&text));
        assert!((MIN..=MIN + 5).contains(&head), "{head}");
        assert!(text[head..].starts_with(" word") && text[tail..].starts_with(" word"));
        assert!((MIN..MIN + 10).contains(&(text.len() - tail)), "{tail}");
    }

    #[test]
    fn a_run_without_white_space_is_cut_at_a_character() {
        let text = "語".repeat(MAX);
        assert_eq!(first(&text), MAX / 3 * 3);
        assert!(text.is_char_boundary(last(&text)));
        assert!(text.len() - last(&text) <= MAX + 3);
    }
}
