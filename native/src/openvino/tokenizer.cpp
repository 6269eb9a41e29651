#include "openvino/tokenizer.h"

#include <array>
#include <new>
#include <stdexcept>

namespace ranking::openvino {
namespace {

// A place for the library's message, and its way into an exception.
struct Failure {
  std::array<char, 512> text{};
  ranking_tokenizer_error error{text.data(), text.size(), 0};

  [[noreturn]] void raise(const char* what) const {
    if (error.out_of_memory != 0) throw std::bad_alloc();
    throw std::runtime_error(std::string(what) + ": " + text.data());
  }
};

ranking_cut cut_of(Truncate truncate) {
  switch (truncate) {
    case Truncate::kEnd: return RANKING_CUT_END;
    case Truncate::kStart: return RANKING_CUT_START;
    case Truncate::kNone: break;
  }
  return RANKING_CUT_NONE;
}

}  // namespace

Tokenizer::Tokenizer(std::string_view json, uint32_t max_tokens)
    : max_tokens_(max_tokens), handle_(nullptr, ranking_tokenizer_close) {
  Failure failure;
  handle_.reset(ranking_tokenizer_open(json.data(), json.size(), max_tokens, &failure.error));
  if (!handle_) failure.raise("tokenizer.json");
}

Tokenizer::Query Tokenizer::encode_query(std::string_view text, Truncate truncate) const {
  Failure failure;
  Query query(ranking_query_encode(handle_.get(), text.data(), text.size(), cut_of(truncate), &failure.error),
              ranking_query_free);
  if (!query) failure.raise("the query cannot be tokenized");
  return query;
}

Pair Tokenizer::encode_pair(const Query& query, std::string_view passage, Truncate truncate, uint32_t passage_limit) const {
  // One place per thread, as large as the largest pair, so that what is kept is only as large as this pair.
  thread_local std::vector<uint32_t> ids;
  thread_local std::vector<uint8_t> type_ids;
  ids.resize(std::max<size_t>(ids.size(), max_tokens_));
  type_ids.resize(ids.size());
  Failure failure;
  ranking_pair pair{};
  const auto status = ranking_pair_encode(handle_.get(), query.get(), passage.data(), passage.size(), cut_of(truncate),
                                          passage_limit, ids.data(), type_ids.data(), &pair, &failure.error);
  if (status == RANKING_TOKENIZER_TOO_LONG) return {.too_long = true};
  if (status != RANKING_TOKENIZER_OK) failure.raise("the passage cannot be tokenized");
  return {{ids.begin(), ids.begin() + pair.tokens}, {type_ids.begin(), type_ids.begin() + pair.tokens}, pair.cut != 0, false};
}

uint64_t Tokenizer::count_piece(std::string_view text, size_t& offset) const {
  Failure failure;
  uint64_t tokens = 0;
  const auto status = ranking_text_count(handle_.get(), text.data(), text.size(), &offset, &tokens, &failure.error);
  if (status != RANKING_TOKENIZER_OK) failure.raise("the text cannot be tokenized");
  return tokens;
}

}  // namespace ranking::openvino
