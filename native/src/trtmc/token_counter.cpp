#include "trtmc/token_counter.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>

namespace ranking::trtmc {
namespace {

// Room for a message of the tokenizer library.
class Message {
 public:
  ranking_tokenizer_error* place() { return &place_; }
  [[noreturn]] void raise(const std::string& what) const {
    if (place_.out_of_memory != 0) throw std::bad_alloc();
    throw std::runtime_error(what + ": " + buffer_.data());
  }

 private:
  std::array<char, 512> buffer_{};
  ranking_tokenizer_error place_{buffer_.data(), buffer_.size(), 0};
};

ranking_tokenizer* open(const std::filesystem::path& file, uint32_t max_tokens) {
  std::ifstream input(file, std::ios::binary);
  if (!input) throw std::runtime_error("cannot open the tokenizer " + file.string());
  const std::string json{std::istreambuf_iterator<char>(input), {}};
  Message message;
  auto* made = ranking_tokenizer_open(json.data(), json.size(), max_tokens, message.place());
  if (made == nullptr) message.raise(file.string());
  return made;
}

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// At most `size` bytes of text from its beginning, or from its end for START, without splitting a character.
std::string_view slice(std::string_view text, size_t size, Truncate side) {
  if (side == Truncate::kStart) {
    size_t from = text.size() - size;
    while (from < text.size() && !starts_character(text[from])) ++from;
    return text.substr(from);
  }
  while (size < text.size() && size > 0 && !starts_character(text[size])) --size;
  return text.substr(0, size);
}

}  // namespace

TokenCounter::TokenCounter(const std::filesystem::path& tokenizer_json, uint32_t max_tokens)
    : max_tokens_(max_tokens),
      handle_(open(tokenizer_json, max_tokens), ranking_tokenizer_close),
      special_(ranking_tokenizer_special_tokens(handle_.get())) {}

std::variant<TokenCounts, RankError> TokenCounter::measure(RankRequest& request) const {
  Measured measured = count_all(request);
  const uint64_t longest = *std::max_element(measured.passages.begin(), measured.passages.end());
  if (special_ + measured.query + longest > max_tokens_) {
    if (request.truncate == Truncate::kNone) return too_long(measured);
    fit(request, measured, longest);
  }
  TokenCounts counts;
  for (const auto passage : measured.passages)
    counts.per_pair.push_back(static_cast<uint32_t>(special_ + measured.query + passage));
  counts.truncated = static_cast<uint32_t>(std::count(measured.cut.begin(), measured.cut.end(), true));
  return counts;
}

TokenCounter::Measured TokenCounter::count_all(RankRequest& request) const {
  Measured measured{count(request.query), {}, {}};
  for (auto& passage : request.passages) {
    uint64_t tokens = count(passage);
    const bool over = request.max_passage_tokens && tokens > *request.max_passage_tokens;
    if (over) tokens = shorten(passage, *request.max_passage_tokens, request.truncate);
    measured.passages.push_back(tokens);
    measured.cut.push_back(over);
  }
  return measured;
}

void TokenCounter::fit(RankRequest& request, Measured& measured, uint64_t longest) const {
  const uint64_t room = max_tokens_ - special_;
  const uint64_t query_room = room - std::min(longest, room / 2);
  if (measured.query > query_room) {
    measured.query = shorten(request.query, query_room, request.truncate);
    measured.cut.assign(measured.cut.size(), true);
  }
  for (size_t i = 0; i < measured.passages.size(); ++i) {
    if (measured.query + measured.passages[i] <= room) continue;
    measured.passages[i] = shorten(request.passages[i], room - measured.query, request.truncate);
    measured.cut[i] = true;
  }
}

RankError TokenCounter::too_long(const Measured& measured) const {
  const auto tokens = [&](uint64_t passage) { return special_ + measured.query + passage; };
  const auto over = [&](uint64_t passage) { return tokens(passage) > max_tokens_; };
  const auto first = std::find_if(measured.passages.begin(), measured.passages.end(), over);
  RankError error;
  error.code = ErrorCode::kInputTooLong;
  error.passage = static_cast<uint32_t>(first - measured.passages.begin());
  error.tokens = static_cast<uint32_t>(tokens(*first));
  error.max_tokens = max_tokens_;
  error.offending = static_cast<uint32_t>(std::count_if(measured.passages.begin(), measured.passages.end(), over));
  error.message = "passage " + std::to_string(*error.passage) + " and the query have " + std::to_string(*error.tokens) +
                  " tokens together, the limit is " + std::to_string(max_tokens_) + "; " + std::to_string(*error.offending) +
                  " of " + std::to_string(measured.passages.size()) + " passages are over it";
  return error;
}

uint64_t TokenCounter::count(std::string_view text) const {
  uint64_t tokens = 0;
  Message message;
  for (size_t offset = 0; offset < text.size();) {
    const auto status = ranking_text_count(handle_.get(), text.data(), text.size(), &offset, &tokens, message.place());
    if (status != RANKING_TOKENIZER_OK) message.raise("the tokenizer failed");
  }
  return tokens;
}

// Cuts a text that is over the limit to the longest piece that is not, and counts that. Looks from a likely length upwards, so
// that the cost depends on the limit and hardly on the text.
uint64_t TokenCounter::shorten(std::string& text, uint64_t limit, Truncate side) const {
  const auto fits_in = [&](size_t size) { return count(slice(text, size, side)) <= limit; };
  size_t fits = 0;
  size_t over = std::min<size_t>(text.size(), 4 * limit + 16);
  while (over < text.size() && fits_in(over)) {
    fits = over;
    over = std::min(text.size(), 2 * over);
  }
  while (over - fits > 1) {
    const size_t middle = fits + (over - fits) / 2;
    (fits_in(middle) ? fits : over) = middle;
  }
  text = std::string(slice(text, fits, side));
  return count(text);
}

}  // namespace ranking::trtmc
