// Counts and cuts in front of a family, with the tokenizer of --tokenizer. The family still tokenizes for itself: what is counted
// here is the pair under that tokenizer's own template, which is the family's only if the operator chose the same.
//
// NONE   a pair over the limit fails the rank: the first at fault is named, with its count.
// END    a longer passage becomes its longest beginning that fits, on a boundary of characters. A query that leaves a passage
// less than half
//        of the room, where that passage needs more, loses its own end: once for the whole rank, since the family takes one
//        query.
// START  the same from the other side.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ranking_tokenizer.h"
#include "task/task.h"

namespace ranking::trtmc {

// May be used from any number of threads.
class TokenCounter {
 public:
  // Throws std::runtime_error that names the file if it is no tokenizer.json or max_tokens leaves no room for text.
  TokenCounter(const std::filesystem::path& tokenizer_json, uint32_t max_tokens);

  // Cuts the texts of the request as its `truncate` says and counts what is left. The error is the client's (input_too_long).
  // Throws std::runtime_error if the tokenizer breaks down, std::bad_alloc where memory has run out.
  std::variant<TokenCounts, RankError> measure(RankRequest& request) const;

 private:
  using Handle = std::unique_ptr<ranking_tokenizer, decltype(&ranking_tokenizer_close)>;

  struct Measured {
    uint64_t query = 0;
    std::vector<uint64_t> passages;
    std::vector<bool> cut;  // whether the pair lost tokens
  };

  Measured count_all(RankRequest& request) const;
  void fit(RankRequest& request, Measured& measured, uint64_t longest) const;
  RankError too_long(const Measured& measured) const;
  uint64_t count(std::string_view text) const;
  uint64_t shorten(std::string& text, uint64_t limit, Truncate side) const;

  const uint32_t max_tokens_;
  const Handle handle_;
  const uint64_t special_;  // tokens that the template adds to a pair
};

}  // namespace ranking::trtmc
