#include "scoring.h"

#include <cctype>
#include <cmath>
#include <set>
#include <string>

namespace trtmc_double {
namespace {

template <typename Use>
void each_word(std::string_view text, Use use) {
  std::string word;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || byte > 127) {
      word += static_cast<char>(std::tolower(byte));
    } else if (!word.empty()) {
      use(word);
      word.clear();
    }
  }
  if (!word.empty()) use(word);
}

std::set<std::string> words(std::string_view text, const Settings& settings) {
  std::set<std::string> found;
  each_word(text, [&](const std::string& word) { found.insert(word); });
  for (const auto& stop : settings.stop_words) found.erase(stop);
  return found;
}

double overlap(const std::set<std::string>& query, const std::set<std::string>& document) {
  size_t shared = 0;
  for (const auto& word : query) shared += document.count(word);
  return query.empty() ? 0 : static_cast<double>(shared) / static_cast<double>(query.size());
}

// FNV-1a, then a finalizer that spreads it; in [-0.5, 0.5).
double jitter(uint64_t seed, std::string_view query, std::string_view document) {
  uint64_t hash = 14695981039346656037u ^ seed;
  for (const std::string_view part : {query, std::string_view("\0", 1), document}) {
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  return static_cast<double>((hash ^ (hash >> 33)) >> 11) * 0x1p-53 - 0.5;
}

}  // namespace

float score(uint64_t seed, const Settings& settings, std::string_view query, std::string_view document, size_t position) {
  double value = 11 * overlap(words(query, settings), words(document, settings)) - 5.5 + jitter(seed, query, document);
  value *= settings.scale;
  if (position < settings.weights.size()) value *= settings.weights[position];
  if (position < settings.offsets.size()) value += static_cast<double>(settings.offsets[position]);
  return static_cast<float>(settings.squash ? 1 / (1 + std::exp(-value)) : value);
}

size_t count_words(std::string_view text) {
  size_t count = 0;
  each_word(text, [&](const std::string&) { ++count; });
  return count;
}

}  // namespace trtmc_double
