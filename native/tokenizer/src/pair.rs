//! From query and passage to the ids of the pair, by Hugging Face's own encoding, truncation and post-processing.

use crate::piece;
use tokenizers::utils::truncation::truncate_encodings;
use tokenizers::{Encoding, Result, Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy};

/// The side that loses tokens; `None` of the outer `Option`: nothing may be cut.
pub type Cut = Option<TruncationDirection>;

pub struct PairTokenizer {
    tokenizer: Tokenizer,
    pub max_tokens: usize,
    pub special_tokens: usize,
    pub pad_id: u32,
}

/// A query without special tokens, encoded only as far as tokens of it can be needed.
pub struct Query(Encoding);

pub struct Pair {
    pub encoding: Encoding,
    pub cut: bool,
}

impl PairTokenizer {
    /// `max_tokens` counts special tokens. Drops what tokenizer.json embeds of truncation and padding.
    pub fn from_json(json: &[u8], max_tokens: usize) -> Result<Self> {
        let mut tokenizer = Tokenizer::from_bytes(json)?;
        let pad_id = tokenizer.get_padding().map(|p| p.pad_id).or_else(|| tokenizer.token_to_id("[PAD]"));
        let pad_id = pad_id.or_else(|| tokenizer.token_to_id("<pad>")).unwrap_or(0);
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None)?;
        let empty = tokenizer.encode_fast("", false)?;
        let special_tokens = tokenizer.post_process(empty.clone(), Some(empty), true)?.len();
        if max_tokens <= special_tokens {
            return Err(format!("max_tokens is {max_tokens}, but a pair has {special_tokens} special tokens").into());
        }
        Ok(Self { tokenizer, max_tokens, special_tokens, pad_id })
    }

    pub fn query(&self, text: &str, cut: Cut) -> Result<Query> {
        self.encode_up_to(text, cut, self.max_tokens).map(Query)
    }

    /// Encodes until there are more than `limit` tokens, beginning at the end that is kept.
    fn encode_up_to(&self, text: &str, cut: Cut, limit: usize) -> Result<Encoding> {
        let mut rest = text;
        let mut encoding = Encoding::default();
        while !rest.is_empty() && encoding.len() <= limit {
            let piece;
            if cut == Some(TruncationDirection::Left) {
                (rest, piece) = rest.split_at(piece::last(rest));
                let mut head = self.tokenizer.encode_fast(piece, false)?;
                head.merge_with(encoding, false);
                encoding = head;
            } else {
                (piece, rest) = rest.split_at(piece::first(rest));
                encoding.merge_with(self.tokenizer.encode_fast(piece, false)?, false);
            }
        }
        Ok(encoding)
    }

    /// None: too long where nothing may be cut. `passage_limit`: the passage is first cut to so many tokens (from the end where nothing may be cut).
    pub fn pair(&self, query: &Query, passage: &str, cut: Cut, passage_limit: Option<usize>) -> Result<Option<Pair>> {
        let side = cut.unwrap_or(TruncationDirection::Right);
        let limit = passage_limit.map_or(self.max_tokens, |own| own.min(self.max_tokens));
        let mut tokens = self.encode_up_to(passage, cut, limit)?;
        let shortened = passage_limit.is_some_and(|own| tokens.len() > own);
        if shortened {
            tokens.truncate(limit, 0, side);
            tokens.take_overflowing();
        }
        self.join(query, tokens, cut, shortened)
    }

    fn join(&self, query: &Query, mut passage: Encoding, cut: Cut, shortened: bool) -> Result<Option<Pair>> {
        let room = self.max_tokens - self.special_tokens;
        let too_long = query.0.len() + passage.len() > room;
        let n = passage.len();
        passage.set_type_ids(vec![1; n]);
        let (query, passage) = match (too_long, cut) {
            (true, None) => return Ok(None),
            (true, Some(direction)) => self.cut_to(room, query.0.clone(), passage, direction)?,
            (false, _) => (query.0.clone(), passage),
        };
        let encoding = self.tokenizer.post_process(query, Some(passage), true)?;
        Ok(Some(Pair { encoding, cut: too_long || shortened }))
    }

    fn cut_to(&self, room: usize, q: Encoding, p: Encoding, direction: TruncationDirection) -> Result<(Encoding, Encoding)> {
        let strategy = TruncationStrategy::LongestFirst;
        let params = TruncationParams { max_length: room, strategy, stride: 0, direction };
        let (mut q, p) = truncate_encodings(q, Some(p), &params)?;
        let mut p = p.unwrap_or_default();
        q.take_overflowing();
        p.take_overflowing();
        Ok((q, p))
    }

    /// Tokens of the first piece of `text`, and its length in bytes.
    pub fn count_piece(&self, text: &str) -> Result<(usize, usize)> {
        let length = piece::first(text);
        Ok((self.tokenizer.encode_fast(&text[..length], false)?.len(), length))
    }
}
