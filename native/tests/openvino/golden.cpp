#include "golden.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace ranking {
namespace {

using nlohmann::json;

std::string text_of(const json& value, const std::vector<std::string>& vocabulary) {
  if (value.is_string()) return value.get<std::string>();
  auto state = value.at("seed").get<uint32_t>();
  std::string text;
  for (size_t i = 0, n = value.at("words").get<size_t>(); i < n; ++i) {
    state = static_cast<uint32_t>((uint64_t{state} * 1103515245 + 12345) % (uint64_t{1} << 31));
    if (i > 0) text += ' ';
    text += vocabulary[(state >> 16) % vocabulary.size()];
  }
  return text;
}

}  // namespace

Golden read_golden(const std::filesystem::path& file) {
  std::ifstream input(file);
  if (!input) throw std::runtime_error("cannot open " + file.string());
  const auto document = json::parse(input);
  const auto vocabulary = document.at("generated_words").get<std::vector<std::string>>();
  Golden golden{document.at("max_tokens").get<uint32_t>(), {}};
  for (const auto& pair : document.at("pairs")) {
    golden.pairs.push_back({text_of(pair.at("query"), vocabulary), text_of(pair.at("passage"), vocabulary),
                            pair.at("ids").get<std::vector<uint32_t>>(), pair.at("type_ids").get<std::vector<uint8_t>>(),
                            pair.at("logit").get<double>()});
  }
  if (golden.pairs.empty()) throw std::runtime_error(file.string() + " has no pairs");
  return golden;
}

}  // namespace ranking
