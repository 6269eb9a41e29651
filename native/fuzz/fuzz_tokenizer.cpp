// Any text through the tokenizers of four architectures, under every limit and cut.
//
// The first bytes of the input choose tokenizer, limits and where the query ends. What is not UTF-8 must be refused, what is must
// give ids within the limits, and the ways to count must agree.
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ipc/utf8.h"
#include "openvino/model_directory.h"
#include "openvino/tokenizer.h"
#include "require.h"

namespace {

using namespace ranking;
using openvino::Pair;
using openvino::Tokenizer;

constexpr uint32_t kVocabulary = 1000;  // more than any of them has
constexpr std::array<const char*, 4> kArchitectures = {"bert", "xlm-roberta", "deberta-v2", "modernbert"};
constexpr std::array<uint32_t, 3> kMaxTokens = {8, 17, 128};

const Tokenizer& tokenizer(uint8_t architecture, uint8_t limit) {
  static const auto all = [] {
    std::vector<Tokenizer> made;
    for (const auto* name : kArchitectures) {
      const auto json = openvino::read_file(std::string(RANKING_TEST_DATA "/architectures/") + name + "/tokenizer.json");
      for (const auto max_tokens : kMaxTokens) made.emplace_back(json, max_tokens);
    }
    return made;
  }();
  return all[architecture % kArchitectures.size() * kMaxTokens.size() + limit % kMaxTokens.size()];
}

std::optional<Pair> encode(const Tokenizer& with, std::string_view query, std::string_view passage, Truncate cut, uint32_t own) {
  try {
    return with.encode_pair(with.encode_query(query, cut), passage, cut, own);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

uint64_t count(const Tokenizer& with, std::string_view text) {
  uint64_t tokens = 0;
  for (size_t offset = 0; offset < text.size();) tokens += with.count_piece(text, offset);
  return tokens;
}

void check_pair(const Tokenizer& with, const Pair& pair) {
  if (pair.too_long) return require(pair.ids.empty());
  require(pair.ids.size() >= with.special_tokens() && pair.ids.size() <= with.max_tokens());
  require(pair.type_ids.size() == pair.ids.size());
  for (const auto id : pair.ids) require(id < kVocabulary);
  for (const auto type : pair.type_ids) require(type <= 1);
}

// Texts this short are one piece, so that the counts are exact.
void check_counts(const Tokenizer& with, std::string_view query, std::string_view passage) {
  const auto whole = with.special_tokens() + count(with, query) + count(with, passage);
  const auto uncut = *encode(with, query, passage, Truncate::kNone, 0);
  require(uncut.too_long == (whole > with.max_tokens()));
  for (const auto cut : {Truncate::kEnd, Truncate::kStart}) {
    const auto pair = *encode(with, query, passage, cut, 0);
    require(pair.cut == uncut.too_long);
    require(pair.cut ? pair.ids.size() == with.max_tokens() : pair.ids == uncut.ids);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChoices = 5;
  if (size < kChoices) return 0;
  const auto& with = tokenizer(data[0], data[1]);
  const auto cut = std::array{Truncate::kNone, Truncate::kEnd, Truncate::kStart}[data[2] % 3];
  const std::string_view text(reinterpret_cast<const char*>(data) + kChoices, size - kChoices);
  const auto query = text.substr(0, data[4] % (text.size() + 1));
  const auto passage = text.substr(query.size());
  const bool is_text = ipc::valid_utf8(query) && ipc::valid_utf8(passage);

  const auto pair = encode(with, query, passage, cut, data[3]);
  require(pair.has_value() == is_text);
  if (!pair) return 0;
  check_pair(with, *pair);
  check_counts(with, query, passage);
  return 0;
}
