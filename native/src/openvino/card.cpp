#include "openvino/card.h"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace ranking::openvino {
namespace {

using nlohmann::json;

constexpr size_t kMaxText = 4096;  // of a short string in ipc/PROTOCOL.md, section 3
constexpr std::array<std::string_view, 8> kKnown = {"id",         "revision",   "family",  "precision",
                                                    "max_tokens", "score_kind", "license", "source"};

std::string text(const json& card, const char* key, bool required) {
  const auto found = card.find(key);
  if (found == card.end() && !required) return {};
  if (found == card.end() || !found->is_string()) throw std::runtime_error(std::string(key) + " must be a string");
  auto value = found->get<std::string>();
  if (required && value.empty()) throw std::runtime_error(std::string(key) + " must not be empty");
  if (value.size() > kMaxText) throw std::runtime_error(std::string(key) + " is longer than 4096 bytes");
  return value;
}

uint32_t max_tokens(const json& card) {
  const auto found = card.find("max_tokens");
  if (found == card.end() || !found->is_number_unsigned()) throw std::runtime_error("max_tokens must be an unsigned integer");
  const auto value = found->get<uint64_t>();
  if (value < 8 || value > 65536) throw std::runtime_error("max_tokens must be 8 to 65536");
  return static_cast<uint32_t>(value);
}

ScoreKind score_kind(const std::string& name) {
  if (name == "logit") return ScoreKind::kLogit;
  if (name == "probability") return ScoreKind::kProbability;
  if (name == "unbounded") return ScoreKind::kUnbounded;
  throw std::runtime_error("score_kind must be logit, probability or unbounded");
}

void refuse_unknown(const json& card) {
  for (const auto& [key, value] : card.items()) {
    if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end())
      throw std::runtime_error("unknown field " + key.substr(0, 64));
  }
}

Card parse(std::istream& input) {
  const auto card = json::parse(input);
  if (!card.is_object()) throw std::runtime_error("must be a JSON object");
  refuse_unknown(card);
  return {text(card, "id", true),     text(card, "revision", false),
          text(card, "family", true), text(card, "precision", true),
          max_tokens(card),           score_kind(text(card, "score_kind", true))};
}

}  // namespace

Card read_card(const std::filesystem::path& file) {
  std::ifstream input(file);
  if (!input) throw std::runtime_error("cannot open " + file.string());
  try {
    return parse(input);
  } catch (const std::exception& e) {
    throw std::runtime_error(file.string() + ": " + e.what());
  }
}

}  // namespace ranking::openvino
