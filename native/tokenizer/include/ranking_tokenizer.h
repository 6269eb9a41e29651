/* C interface of the tokenizer library: query and passage in, the token ids a cross-encoder scores out.
 *
 * Threads: a tokenizer and a query are read-only once made and may be used from any number of threads.
 * Text is UTF-8, not NUL-terminated. No panic crosses this interface: it becomes RANKING_TOKENIZER_FAILED and a message
 * that carries nothing of the text. Each calling thread holds a reserve of 64 MiB of addresses: where memory runs out in a call,
 * the call lives on it and completes, and the next one fails, with out_of_memory, until the reserve can be had again.
 */
#ifndef RANKING_TOKENIZER_H
#define RANKING_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ranking_tokenizer ranking_tokenizer;
typedef struct ranking_query ranking_query;

typedef enum { RANKING_CUT_NONE = 0, RANKING_CUT_END = 1, RANKING_CUT_START = 2 } ranking_cut;

typedef enum {
  RANKING_TOKENIZER_OK = 0,
  RANKING_TOKENIZER_TOO_LONG = 1, /* over max_tokens under RANKING_CUT_NONE: no ids written */
  RANKING_TOKENIZER_FAILED = 2
} ranking_tokenizer_status;

typedef struct {
  char* text; /* NUL-terminated message on failure, cut to `size` */
  size_t size;
  uint8_t out_of_memory; /* 1: the call was not begun for want of memory; 0 before the call */
} ranking_tokenizer_error;

typedef struct {
  uint32_t tokens; /* ids written, special tokens included */
  uint8_t cut;     /* 1: the pair lost tokens */
} ranking_pair;

/* Version of the crate `tokenizers`, which decides the ids. */
const char* ranking_tokenizer_version(void);

/* Reads a Hugging Face tokenizer.json. Truncation and padding embedded in it are dropped: the caller's rules hold.
 * max_tokens: per pair, special tokens included. NULL on failure. */
ranking_tokenizer* ranking_tokenizer_open(const char* json, size_t json_size, uint32_t max_tokens,
                                          ranking_tokenizer_error* error);
void ranking_tokenizer_close(ranking_tokenizer* tokenizer);

/* Special tokens of a pair; id used for padding (0 if tokenizer.json names none). */
uint32_t ranking_tokenizer_special_tokens(const ranking_tokenizer* tokenizer);
uint32_t ranking_tokenizer_pad_id(const ranking_tokenizer* tokenizer);

/* Encodes a query once for all pairs of a request. NULL on failure. */
ranking_query* ranking_query_encode(const ranking_tokenizer* tokenizer, const char* text, size_t size, ranking_cut cut,
                                    ranking_tokenizer_error* error);
void ranking_query_free(ranking_query* query);

/* Encodes one pair as Hugging Face does (longest_first on the side of `cut`).
 * passage_limit: the passage is first cut to so many tokens of its own; 0: no such limit.
 * ids, type_ids: room for max_tokens each. */
ranking_tokenizer_status ranking_pair_encode(const ranking_tokenizer* tokenizer, const ranking_query* query, const char* passage,
                                             size_t size, ranking_cut cut, uint32_t passage_limit, uint32_t* ids,
                                             uint8_t* type_ids, ranking_pair* pair, ranking_tokenizer_error* error);

/* Counts the tokens, without special ones, of the piece of `text` that starts at *offset, adds them to *tokens and moves *offset
 * behind the piece; done when *offset == size. In pieces, so that a text of many megabytes can take turns with others. */
ranking_tokenizer_status ranking_text_count(const ranking_tokenizer* tokenizer, const char* text, size_t size, size_t* offset,
                                            uint64_t* tokens, ranking_tokenizer_error* error);

#ifdef __cplusplus
}
#endif

#endif
