//! The functions of `include/ranking_tokenizer.h`.
//!
//! Safety of every function here: pointers come from this library or point to as many bytes as the header says, and live for the call.

use crate::{reserve, Cut, Pair, PairTokenizer, Query, TOKENIZERS_VERSION};
use std::ffi::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::{ptr, slice, str};
use tokenizers::TruncationDirection::{Left, Right};

const OK: u32 = 0;
const TOO_LONG: u32 = 1;
const FAILED: u32 = 2;

#[repr(C)]
pub struct ErrorText {
    text: *mut c_char,
    size: usize,
    out_of_memory: u8,
}

#[repr(C)]
pub struct PairInfo {
    tokens: u32,
    cut: u8,
}

/// Runs `body`; an error, a panic or the want of a reserve is written to `error` and gives None.
unsafe fn guard<T>(error: *mut ErrorText, body: impl FnOnce() -> tokenizers::Result<T>) -> Option<T> {
    if !reserve::hold() {
        write(error, "out of memory");
        if let Some(error) = error.as_mut() {
            error.out_of_memory = 1;
        }
        return None;
    }
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return Some(value),
        Ok(Err(e)) => write(error, &e.to_string()),
        Err(_) => write(error, "the tokenizer met a bug of its own"),
    }
    None
}

unsafe fn write(error: *mut ErrorText, message: &str) {
    if let Some(error) = error.as_mut().filter(|e| e.size > 0) {
        let n = message.len().min(error.size - 1);
        ptr::copy_nonoverlapping(message.as_ptr(), error.text.cast(), n);
        *error.text.add(n) = 0;
    }
}

/// Text from C. Empty texts may come with a null pointer.
unsafe fn text<'a>(data: *const c_char, size: usize) -> tokenizers::Result<&'a str> {
    if size == 0 {
        return Ok("");
    }
    str::from_utf8(slice::from_raw_parts(data.cast(), size)).map_err(|_| "the text is not UTF-8".into())
}

fn cut_of(cut: u32) -> Cut {
    match cut {
        1 => Some(Right),
        2 => Some(Left),
        _ => None,
    }
}

#[no_mangle]
unsafe extern "C" fn ranking_tokenizer_open(
    json: *const c_char,
    json_size: usize,
    max_tokens: u32,
    error: *mut ErrorText,
) -> *mut PairTokenizer {
    // The default hook prints panic messages, which may quote a client's text.
    std::panic::set_hook(Box::new(|_| {}));
    let open = || PairTokenizer::from_json(slice::from_raw_parts(json.cast(), json_size), max_tokens as usize);
    guard(error, open).map_or(ptr::null_mut(), |t| Box::into_raw(Box::new(t)))
}

#[no_mangle]
extern "C" fn ranking_tokenizer_version() -> *const c_char {
    TOKENIZERS_VERSION.as_ptr()
}

#[no_mangle]
unsafe extern "C" fn ranking_tokenizer_close(tokenizer: *mut PairTokenizer) {
    if !tokenizer.is_null() {
        drop(Box::from_raw(tokenizer));
    }
}

#[no_mangle]
unsafe extern "C" fn ranking_tokenizer_special_tokens(tokenizer: *const PairTokenizer) -> u32 {
    (*tokenizer).special_tokens as u32
}

#[no_mangle]
unsafe extern "C" fn ranking_tokenizer_pad_id(tokenizer: *const PairTokenizer) -> u32 {
    (*tokenizer).pad_id
}

#[no_mangle]
unsafe extern "C" fn ranking_query_encode(
    tokenizer: *const PairTokenizer,
    data: *const c_char,
    size: usize,
    cut: u32,
    error: *mut ErrorText,
) -> *mut Query {
    let encode = || (*tokenizer).query(text(data, size)?, cut_of(cut));
    guard(error, encode).map_or(ptr::null_mut(), |t| Box::into_raw(Box::new(t)))
}

#[no_mangle]
unsafe extern "C" fn ranking_query_free(query: *mut Query) {
    if !query.is_null() {
        drop(Box::from_raw(query));
    }
}

#[no_mangle]
unsafe extern "C" fn ranking_pair_encode(
    tokenizer: *const PairTokenizer,
    query: *const Query,
    passage: *const c_char,
    size: usize,
    cut: u32,
    passage_limit: u32,
    ids: *mut u32,
    type_ids: *mut u8,
    info: *mut PairInfo,
    error: *mut ErrorText,
) -> u32 {
    let limit = (passage_limit > 0).then_some(passage_limit as usize);
    let encode = || {
        let Some(Pair { encoding, cut }) = (*tokenizer).pair(&*query, text(passage, size)?, cut_of(cut), limit)? else {
            return Ok(TOO_LONG);
        };
        let n = encoding.len();
        if n > (*tokenizer).max_tokens {
            return Err("the post-processor added more tokens than it declares".into());
        }
        slice::from_raw_parts_mut(ids, n).copy_from_slice(encoding.get_ids());
        for (i, t) in encoding.get_type_ids().iter().enumerate() {
            *type_ids.add(i) = *t as u8;
        }
        *info = PairInfo { tokens: n as u32, cut: cut as u8 };
        Ok(OK)
    };
    guard(error, encode).unwrap_or(FAILED)
}

#[no_mangle]
unsafe extern "C" fn ranking_text_count(
    tokenizer: *const PairTokenizer,
    data: *const c_char,
    size: usize,
    offset: *mut usize,
    tokens: *mut u64,
    error: *mut ErrorText,
) -> u32 {
    let count = || {
        let (n, length) = (*tokenizer).count_piece(&text(data, size)?[*offset..])?;
        *tokens += n as u64;
        *offset += length;
        Ok(OK)
    };
    guard(error, count).unwrap_or(FAILED)
}
