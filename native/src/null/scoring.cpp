#include "null/scoring.h"

#include <algorithm>

namespace ranking {
namespace {

constexpr uint32_t kSpecialTokens = 3;
constexpr std::string_view kBlanks = " \t\n\v\f\r";

uint64_t fnv1a(std::string_view bytes, uint64_t hash) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// The hash of the query and the separator, from which the hash of each pair goes on.
uint64_t query_hash(std::string_view query) { return fnv1a("\x1f", fnv1a(query, 0xcbf29ce484222325u)); }

float score_from(uint64_t hash) { return static_cast<float>(static_cast<double>(hash >> 40) * 20.0 / (1 << 24) - 10.0); }

bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

uint32_t count_words(std::string_view text) {
  uint32_t words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool was_inside = inside;
    inside = !blank(c);
    words += inside && !was_inside;
  }
  return words;
}

std::string_view first_words(std::string_view text, uint32_t words) {
  const size_t start = std::min(text.find_first_not_of(kBlanks), text.size());
  size_t end = start;
  for (; words > 0; --words) {
    const size_t word = text.find_first_not_of(kBlanks, end);
    end = std::min(text.find_first_of(kBlanks, word), text.size());
  }
  return text.substr(start, end - start);
}

std::string_view last_words(std::string_view text, uint32_t words) {
  const size_t end = text.find_last_not_of(kBlanks) + 1;
  size_t start = end;
  for (; words > 0; --words) {
    const size_t word = text.find_last_not_of(kBlanks, start - 1);
    start = text.find_last_of(kBlanks, word) + 1;
  }
  return text.substr(start, end - start);
}

struct Words {
  std::string_view text;
  uint32_t count;

  void cut(uint32_t to, Truncate side) {
    if (count <= to) return;
    text = side == Truncate::kStart ? last_words(text, to) : first_words(text, to);
    count = to;
  }
};

// Hugging Face's longest_first: the longer of the two loses words down to the shorter, then both take half of the room.
void cut_pair(Words& query, Words& passage, uint32_t room, Truncate side) {
  Words& shorter = query.count <= passage.count ? query : passage;
  Words& longer = query.count <= passage.count ? passage : query;
  if (shorter.count <= room / 2) {
    longer.cut(room - shorter.count, side);
  } else {
    shorter.cut(room / 2, side);
    longer.cut(room - room / 2, side);
  }
}

void note_too_long(RankError& error, size_t passage, uint32_t tokens) {
  if (!error.passage) {
    error.passage = static_cast<uint32_t>(passage);
    error.tokens = tokens;
  }
  error.offending = error.offending.value_or(0) + 1;
}

}  // namespace

float null_score(std::string_view query, std::string_view passage) { return score_from(fnv1a(passage, query_hash(query))); }

RankOutcome null_rank(const RankRequest& request, uint32_t max_tokens) {
  const uint32_t room = max_tokens - kSpecialTokens;
  const Words whole_query{request.query, count_words(request.query)};
  const uint64_t whole_query_hash = query_hash(request.query);
  RankScores result{.scores = {}, .tokens = TokenCounts{}, .timing = {}};
  RankError too_long{.code = ErrorCode::kInputTooLong, .message = "a pair is over the token limit", .max_tokens = max_tokens};

  result.scores.reserve(request.passages.size());
  result.tokens->per_pair.reserve(request.passages.size());
  for (size_t i = 0; i < request.passages.size(); ++i) {
    Words query = whole_query;
    Words passage{request.passages[i], count_words(request.passages[i])};
    const uint32_t uncut = passage.count;
    if (request.max_passage_tokens) passage.cut(*request.max_passage_tokens, request.truncate);
    if (query.count + passage.count > room) {
      if (request.truncate == Truncate::kNone) {
        note_too_long(too_long, i, query.count + passage.count + kSpecialTokens);
        continue;
      }
      cut_pair(query, passage, room, request.truncate);
    }
    const uint64_t start = query.count == whole_query.count ? whole_query_hash : query_hash(query.text);
    result.scores.push_back(score_from(fnv1a(passage.text, start)));
    result.tokens->per_pair.push_back(query.count + passage.count + kSpecialTokens);
    result.tokens->truncated += query.count < whole_query.count || passage.count < uncut;
  }
  if (too_long.passage) return too_long;
  return result;
}

}  // namespace ranking
