// golden.json: pairs with the token ids and the logit that the transformers library gives. Its format is in
// ../architectures/README.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ranking {

struct GoldenPair {
  std::string query;
  std::string passage;
  std::vector<uint32_t> ids;
  std::vector<uint8_t> type_ids;
  double logit = 0;
};

struct Golden {
  uint32_t max_tokens = 0;
  std::vector<GoldenPair> pairs;
};

Golden read_golden(const std::filesystem::path& file);

}  // namespace ranking
