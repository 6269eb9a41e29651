#include "trtmc/token_counter.h"

#include <gtest/gtest.h>

#include <fstream>

#include "fixture.h"
#include "trtmc/trtmc_task.h"

namespace ranking::trtmc {
namespace {

// Every word and every punctuation mark is one token; a pair is [CLS] query [SEP] passage [SEP].
constexpr char kTokenizer[] = R"({
  "version": "1.0", "truncation": null, "padding": null, "normalizer": null, "decoder": null,
  "added_tokens": [
    {"id": 1, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
    {"id": 2, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
    "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
             {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
    "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]}, "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
  "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, "unk_token": "[UNK]"}
})";

std::string words(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (text.empty() ? "w" : " w") + std::to_string(i);
  return text;
}

class Counting : public ::testing::Test {
 protected:
  Counting() { std::ofstream(file_) << kTokenizer; }

  TokenCounter counter(uint32_t max_tokens) const { return TokenCounter(file_, max_tokens); }

  const Folder folder_;
  const std::filesystem::path file_ = folder_.path() / "tokenizer.json";
};

TEST_F(Counting, CountsThePairWithItsSpecialTokens) {
  auto rank = request(words(4), {words(2), "", words(10), "port, ice!"});
  const auto counts = std::get<TokenCounts>(counter(64).measure(rank));
  EXPECT_EQ(counts.per_pair, (std::vector<uint32_t>{9, 7, 17, 11}));
  EXPECT_EQ(counts.truncated, 0u);
  EXPECT_FALSE(counts.padding.has_value());
}

TEST_F(Counting, NoneNamesTheFirstAtFaultAndExactlyTheLimitPasses) {
  auto rank = request(words(5), {words(1), words(12), words(13), words(40)});
  const auto failure = std::get<RankError>(counter(20).measure(rank));
  EXPECT_EQ(failure.code, ErrorCode::kInputTooLong);
  EXPECT_EQ(failure.passage, 2u);
  EXPECT_EQ(failure.tokens, 21u);
  EXPECT_EQ(failure.max_tokens, 20u);
  EXPECT_EQ(failure.offending, 2u);
  EXPECT_EQ(failure.message, "passage 2 and the query have 21 tokens together, the limit is 20; 2 of 4 passages are over it");
  EXPECT_EQ(rank.passages[3], words(40));
  auto fits = request(words(5), {words(12)});
  EXPECT_EQ(std::get<TokenCounts>(counter(20).measure(fits)).per_pair[0], 20u);
}

TEST_F(Counting, EndAndStartKeepTheirSideOfThePassage) {
  const auto f = [&](Truncate side, const std::string& passage, const std::string& kept) {
    auto rank = request("a b", {passage, "short"});
    rank.truncate = side;
    const auto counts = std::get<TokenCounts>(counter(8).measure(rank));
    EXPECT_EQ(rank.passages[0], kept);
    EXPECT_EQ(rank.query, "a b");
    EXPECT_EQ(rank.passages[1], "short");
    EXPECT_EQ(counts.per_pair, (std::vector<uint32_t>{8, 6}));
    EXPECT_EQ(counts.truncated, 1u);
  };
  f(Truncate::kEnd, "one two three four", "one two three ");
  f(Truncate::kStart, "one two three four", " two three four");
  f(Truncate::kEnd, "één twéé drié vier", "één twéé drié ");
  f(Truncate::kStart, "één twéé drié vier", " twéé drié vier");
  f(Truncate::kEnd, "港 港 港 港", "港 港 港 ");
  f(Truncate::kEnd, words(100000), "w0 w1 w2 ");
  f(Truncate::kStart, words(100000), " w99997 w99998 w99999");
}

TEST_F(Counting, ALongQueryGivesUpNoMoreThanThePassagesNeed) {
  const auto f = [&](size_t query, std::vector<size_t> passages, size_t query_kept, std::vector<uint32_t> pairs,
                     uint32_t truncated) {
    auto rank = request(words(query), {});
    for (const size_t passage : passages) rank.passages.push_back(words(passage));
    rank.truncate = Truncate::kEnd;
    const auto counts = std::get<TokenCounts>(counter(23).measure(rank));  // room for 20
    EXPECT_EQ(counts.per_pair, pairs);
    EXPECT_EQ(counts.truncated, truncated);
    auto again = request(rank.query, {""});
    EXPECT_EQ(std::get<TokenCounts>(counter(64).measure(again)).per_pair[0], query_kept + 3);
  };
  f(10, {10}, 10, {23}, 0);
  f(10, {50}, 10, {23}, 1);
  f(15, {50, 3}, 10, {23, 16}, 2);
  f(50, {4}, 16, {23}, 1);
  f(50, {0}, 20, {23}, 1);
}

TEST_F(Counting, PassagesAreCutToALimitOfTheirOwn) {
  auto rank = request("a b", {"one two three four", "one two"});
  rank.max_passage_tokens = 2;
  const auto counts = std::get<TokenCounts>(counter(64).measure(rank));
  EXPECT_EQ(rank.passages, (std::vector<std::string>{"one two ", "one two"}));
  EXPECT_EQ(counts.per_pair, (std::vector<uint32_t>{7, 7}));
  EXPECT_EQ(counts.truncated, 1u);
  auto from_start = request("a b", {"one two three four"});
  from_start.max_passage_tokens = 3;
  from_start.truncate = Truncate::kStart;
  counter(64).measure(from_start);
  EXPECT_EQ(from_start.passages[0], " two three four");
}

TEST_F(Counting, FilesThatAreNoTokenizersAreNamed) {
  std::ofstream(file_) << "{}";
  EXPECT_NE(thrown([&] { counter(64); }).find(file_.string()), std::string::npos);
  EXPECT_NE(thrown([&] { TokenCounter("/nowhere/tokenizer.json", 64); }).find("cannot open the tokenizer /nowhere"),
            std::string::npos);
}

class CountingTask : public Counting {
 protected:
  std::unique_ptr<Task> load() {
    auto options = options_for(folder_);
    options.tokenizer = file_;
    options.tokenizer_max_tokens = 8;
    return make_trtmc_task(options);
  }
};

TEST_F(CountingTask, ReportsAndEnforcesWhatItCounts) {
  const auto task = load();
  EXPECT_EQ(task->info().max_tokens, 8u);
  const auto answer = scores(ask(*task, request("a b", {"c", "c d e"})));
  ASSERT_TRUE(answer.tokens.has_value());
  EXPECT_EQ(answer.tokens->per_pair, (std::vector<uint32_t>{6, 8}));
  const auto runs = watch().runs;
  EXPECT_EQ(error(ask(*task, request("a b", {"c d e f"}))).code, ErrorCode::kInputTooLong);
  EXPECT_EQ(watch().runs, runs);
}

TEST_F(CountingTask, TheFamilyScoresTheTextThatWasCut) {
  const auto task = load();
  auto whole = request("a b", {"c d e f a b"});
  whole.truncate = Truncate::kEnd;
  const auto cut = scores(ask(*task, whole));
  EXPECT_EQ(cut.tokens->truncated, 1u);
  EXPECT_EQ(cut.scores, scores(ask(*task, request("a b", {"c d e "}))).scores);
}

TEST_F(CountingTask, ATextThatBreaksTheTokenizerFailsAlone) {
  const auto task = load();
  EXPECT_EQ(error(ask(*task, request("a b", {"\xff\xfe"}))).code, ErrorCode::kBackendFailed);
  EXPECT_EQ(scores(ask(*task, request("a b", {"c"}))).scores.size(), 1u);
}

}  // namespace
}  // namespace ranking::trtmc
