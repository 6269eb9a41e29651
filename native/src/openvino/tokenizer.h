// Token ids of query and passage pairs, by Hugging Face's tokenizer (native/tokenizer). Read-only once made: any number of
// threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ranking_tokenizer.h"
#include "task/task.h"

namespace ranking::openvino {

// One pair as the model sees it: 1 to max_tokens ids, special tokens included.
struct Pair {
  std::vector<uint32_t> ids;
  std::vector<uint8_t> type_ids;
  bool cut = false;       // lost tokens
  bool too_long = false;  // over max_tokens under Truncate::kNone; no ids then
};

class Tokenizer {
 public:
  using Query = std::unique_ptr<ranking_query, decltype(&ranking_query_free)>;

  // Throws std::runtime_error, also if max_tokens leaves no room beside the special tokens.
  Tokenizer(std::string_view tokenizer_json, uint32_t max_tokens);

  uint32_t max_tokens() const { return max_tokens_; }
  uint32_t special_tokens() const { return ranking_tokenizer_special_tokens(handle_.get()); }
  uint32_t pad_id() const { return ranking_tokenizer_pad_id(handle_.get()); }

  // These throw std::runtime_error when the tokenizer itself refuses the text, std::bad_alloc where memory has run out.
  // passage_limit 0: none.
  Query encode_query(std::string_view text, Truncate truncate) const;
  Pair encode_pair(const Query& query, std::string_view passage, Truncate truncate, uint32_t passage_limit) const;

  // Counts the piece of text at offset, moves offset behind it and returns its tokens; see ranking_text_count.
  uint64_t count_piece(std::string_view text, size_t& offset) const;

 private:
  uint32_t max_tokens_;
  std::unique_ptr<ranking_tokenizer, decltype(&ranking_tokenizer_close)> handle_;
};

}  // namespace ranking::openvino
