// Good days: scores, order, settings, timings.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "direct.h"
#include "fixture.h"
#include "trtmc/trtmc_task.h"

namespace ranking::trtmc {
namespace {

const std::string kQuery = "when does the harbour freeze";
const std::vector<std::string> kPassages = {
    "Bread keeps for a week in a cool larder.",
    "The harbour does not freeze before the new year.",
    "",
    std::string("a NUL \0 inside", 14),
    "港は一月に凍る",
    "The harbour does not freeze before the new year.",
};

std::vector<uint32_t> bits(const std::vector<float>& scores) {
  std::vector<uint32_t> raw;
  for (const float score : scores) raw.push_back(std::bit_cast<uint32_t>(score));
  return raw;
}

class Ranking : public ::testing::Test {
 protected:
  std::unique_ptr<Task> with(const std::vector<std::string>& config, const nlohmann::json& header = nlohmann::json::object()) {
    auto options = options_for(folder_, header);
    options.config = config;
    return make_trtmc_task(options);
  }
  const Folder folder_;
};

TEST_F(Ranking, ScoresAreThoseOfTheAbiBitForBitInPassageOrder) {
  const auto task = with({});
  const auto answer = scores(ask(*task, request(kQuery, kPassages)));
  EXPECT_EQ(bits(answer.scores), bits(Direct(double_root(), folder_.path() / "double.bundle").run(kQuery, kPassages)));
  EXPECT_EQ(std::max_element(answer.scores.begin(), answer.scores.end()) - answer.scores.begin(), 1);
}

TEST_F(Ranking, TheWholeRankIsOneRun) {
  const auto task = with({});
  const auto before = watch().runs;
  const auto answer = scores(ask(*task, request(kQuery, std::vector<std::string>(512, "a passage"))));
  EXPECT_EQ(answer.scores.size(), 512u);
  EXPECT_EQ(answer.timing.batches, 1u);
  EXPECT_EQ(watch().runs, before + 1);
}

TEST_F(Ranking, PairsGiveTheSameScoresInAsManyRuns) {
  const auto whole = scores(ask(*with({}), request(kQuery, kPassages)));
  auto options = options_for(folder_, {{"double", {{"tasks", {"text_pair_to_relevance 1.0"}}}}});
  options.allow_pairwise = true;
  const auto task = make_trtmc_task(options);
  const auto before = watch().runs;
  const auto pairs = scores(ask(*task, request(kQuery, kPassages)));
  EXPECT_EQ(bits(pairs.scores), bits(whole.scores));
  EXPECT_EQ(pairs.timing.batches, kPassages.size());
  EXPECT_EQ(watch().runs, before + kPassages.size());
}

TEST_F(Ranking, ControlsReachEveryRun) {
  const auto plain = scores(ask(*with({}), request(kQuery, kPassages))).scores;
  const auto f = [&](const std::vector<std::string>& config, size_t passage, float wanted) {
    EXPECT_FLOAT_EQ(scores(ask(*with(config), request(kQuery, kPassages))).scores[passage], wanted) << config[0];
  };
  f({"scale=2"}, 1, plain[1] * 2);
  f({"offsets=[0,100]"}, 1, plain[1] + 100);
  f({"weights=[1,-3.5]", "scale=2"}, 1, plain[1] * 2 * -3.5f);
  f({"squash=true"}, 1, 1 / (1 + std::exp(-plain[1])));
  f({"squash=false"}, 1, plain[1]);
  const auto stopped = scores(ask(*with({R"(stop_words=["harbour","freeze","the","does"])"}), request(kQuery, kPassages))).scores;
  EXPECT_LT(stopped[1], plain[1] - 1);
}

TEST_F(Ranking, NothingIsCountedWithoutATokenizer) {
  const auto task = with({});
  EXPECT_FALSE(scores(ask(*task, request(kQuery, kPassages))).tokens.has_value());
  auto cut = request(kQuery, kPassages);
  cut.max_passage_tokens = 64;
  EXPECT_EQ(error(ask(*task, cut)).code, ErrorCode::kInvalidRequest);
}

TEST_F(Ranking, TimesFitIntoTheTimeOfTheRank) {
  const auto task = with({});
  const auto before = Clock::now();
  const auto answer = scores(ask(*task, request("double:sleep=5", {"a", "b"})));
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - before).count();
  EXPECT_GE(answer.timing.public_task_call_wall_us, 5000u);
  EXPECT_LE(answer.timing.queue_us + answer.timing.public_task_call_wall_us, static_cast<uint64_t>(whole));
  EXPECT_EQ(answer.timing.tokenize_us, 0u);
}

TEST_F(Ranking, ReplicasGiveTheSameScores) {
  auto options = options_for(folder_);
  const auto alone = scores(ask(*make_trtmc_task(options), request(kQuery, kPassages)));
  options.replicas = 3;
  const auto task = make_trtmc_task(options);
  std::vector<std::future<RankOutcome>> answers;
  for (int i = 0; i < 60; ++i) answers.push_back(submit(*task, request(kQuery, kPassages)));
  for (auto& answer : answers) EXPECT_EQ(bits(scores(answer.get()).scores), bits(alone.scores));
  EXPECT_EQ(watch().overlaps, 0u);
}

TEST_F(Ranking, RanksThatBreakARuleOfTheTaskNeverReachTheModel) {
  auto options = options_for(folder_);
  options.max_passages = 4;
  const auto task = make_trtmc_task(options);
  const auto before = watch().runs;
  const auto none = error(ask(*task, request(kQuery, {})));
  EXPECT_EQ(none.code, ErrorCode::kInvalidRequest);
  const auto many = error(ask(*task, request(kQuery, {"a", "b", "c", "d", "e"})));
  EXPECT_EQ(many.code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(many.message, "5 passages are over the limit of 4");
  EXPECT_EQ(watch().runs, before);
  EXPECT_EQ(scores(ask(*task, request(kQuery, {"a", "b", "c", "d"}))).scores.size(), 4u);
}

}  // namespace
}  // namespace ranking::trtmc
