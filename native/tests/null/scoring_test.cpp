#include "null/scoring.h"

#include <gtest/gtest.h>

#include <set>

namespace ranking {
namespace {

RankRequest request(std::string query, std::vector<std::string> passages, Truncate truncate = Truncate::kNone) {
  RankRequest made;
  made.query = std::move(query);
  made.passages = std::move(passages);
  made.truncate = truncate;
  return made;
}

RankScores scored(const RankRequest& made, uint32_t max_tokens) { return std::get<RankScores>(null_rank(made, max_tokens)); }

// The numbers were computed in another language from the words in scoring.h.
TEST(NullScoring, IsTheDocumentedFunction) {
  EXPECT_EQ(null_score("hello world", "d"), 1.3167202472686768f);
  EXPECT_EQ(null_score("", ""), 3.7023377418518066f);
  EXPECT_EQ(null_score("Grüße", "日本"), 1.7786014080047607f);
}

TEST(NullScoring, DistinguishesPairsAndStaysInRange) {
  std::set<float> seen;
  for (int i = 0; i < 1000; ++i) {
    const float score = null_score("query", "passage " + std::to_string(i));
    EXPECT_GE(score, -10.0f);
    EXPECT_LT(score, 10.0f);
    seen.insert(score);
  }
  EXPECT_GT(seen.size(), 990u);
  EXPECT_NE(null_score("ab", "c"), null_score("a", "bc"));
}

TEST(NullScoring, CountsWordsAndThree) {
  EXPECT_EQ(scored(request("one two", {"", " \t\n", "a  b\rc", " lead and trail "}), 512).tokens->per_pair,
            (std::vector<uint32_t>{5, 5, 8, 8}));
}

TEST(NullScoring, ExactlyTheLimitPassesAndOneMoreFails) {
  const auto exact = null_rank(request("q", {"a b c d"}), 8);
  EXPECT_TRUE(std::holds_alternative<RankScores>(exact));
  const auto over = null_rank(request("q", {"a", "a b c d e", "a b", "a b c d e f"}), 8);
  const auto& error = std::get<RankError>(over);
  EXPECT_EQ(error.code, ErrorCode::kInputTooLong);
  EXPECT_EQ(error.passage, 1u);
  EXPECT_EQ(error.tokens, 9u);
  EXPECT_EQ(error.max_tokens, 8u);
  EXPECT_EQ(error.offending, 2u);
}

TEST(NullScoring, CutsThePassageFirst) {
  const auto end = scored(request("q1 q2", {"a b c d e f", "a b"}, Truncate::kEnd), 8);
  EXPECT_EQ(end.tokens->per_pair, (std::vector<uint32_t>{8, 7}));
  EXPECT_EQ(end.tokens->truncated, 1u);
  EXPECT_EQ(end.scores[0], null_score("q1 q2", "a b c"));
  const auto start = scored(request("q1 q2", {"a b c d e f "}, Truncate::kStart), 8);
  EXPECT_EQ(start.scores[0], null_score("q1 q2", "d e f"));
}

TEST(NullScoring, CutsTheQueryOnlyBeyondItsHalf) {
  // Room for 5: the query keeps what a short passage leaves, and half where both are long.
  EXPECT_EQ(scored(request("a b c d e f", {"x y"}, Truncate::kEnd), 8).scores[0], null_score("a b c", "x y"));
  EXPECT_EQ(scored(request("a b c d", {"u v w x y"}, Truncate::kEnd), 8).scores[0], null_score("a b", "u v w"));
  EXPECT_EQ(scored(request("a b c d e f", {"u v w x"}, Truncate::kEnd), 8).scores[0], null_score("a b c", "u v"));
  EXPECT_EQ(scored(request("a b c d e f", {"u v w x"}, Truncate::kStart), 8).scores[0], null_score("d e f", "w x"));
}

TEST(NullScoring, CutsPassagesToTheirOwnLimitFirst) {
  auto made = request("q", {"a b c", "a"});
  made.max_passage_tokens = 2;
  const auto none = scored(made, 512);
  EXPECT_EQ(none.scores[0], null_score("q", "a b"));
  EXPECT_EQ(none.tokens->truncated, 1u);
  made.truncate = Truncate::kStart;
  EXPECT_EQ(scored(made, 512).scores[0], null_score("q", "b c"));
}

}  // namespace
}  // namespace ranking
