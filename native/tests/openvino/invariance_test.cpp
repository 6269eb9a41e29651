// A score does not depend on company: alone, in a crowd, and at any place of a batch the bits are the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "asking.h"
#include "openvino/openvino_task.h"

namespace ranking {
namespace {

using std::filesystem::path;

std::vector<std::string> passages() {
  const std::vector<std::string> words = {"harbour", "deep",  "metres", "tide",     "the",
                                          "nine",    "stone", "window", "unlikely", "seven"};
  std::mt19937 random(3);
  std::vector<std::string> made;
  for (size_t i = 0; i < 40; ++i) {
    std::string text = std::to_string(i);
    for (size_t n = 1 + random() % 60; n > 0; --n) text += ' ' + words[random() % words.size()];
    made.push_back(text);
  }
  return made;
}

void expect_same_bits(const path& model) {
  OpenvinoOptions options;
  options.model = model;
  options.streams = 2;
  const auto task = make_openvino_task(options);
  const std::string query = "how deep is the harbour";
  const auto all = passages();
  std::vector<float> alone;
  Ticket ticket = 0;
  for (const auto& passage : all) {
    alone.push_back(scores_of(submit(*task, ticket++, request_of({passage}, query, Truncate::kEnd))).scores.at(0));
  }
  // Eight requests at once, each in an order of its own.
  std::vector<std::vector<size_t>> orders;
  std::vector<std::future<RankOutcome>> answers;
  for (unsigned i = 0; i < 8; ++i) {
    std::vector<size_t> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(i));
    std::vector<std::string> shuffled;
    for (const auto at : order) shuffled.push_back(all[at]);
    orders.push_back(order);
    answers.push_back(submit(*task, ticket++, request_of(shuffled, query, Truncate::kEnd)));
  }
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto crowd = scores_of(std::move(answers[i])).scores;
    for (size_t j = 0; j < crowd.size(); ++j) EXPECT_EQ(crowd[j], alone[orders[i][j]]) << all[orders[i][j]];
  }
}

TEST(Invariance, TinyModelInF32) { expect_same_bits(path(RANKING_TEST_DATA) / "architectures" / "bert"); }

TEST(Invariance, DefaultModel) {
  const auto model = path(RANKING_MODELS) / "minilm-l6-rerank";
  if (!std::filesystem::exists(model)) GTEST_SKIP() << "the default model is not in " << RANKING_MODELS;
  expect_same_bits(model);
}

}  // namespace
}  // namespace ranking
