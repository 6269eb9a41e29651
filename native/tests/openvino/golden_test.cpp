// Against the transformers library: the same token ids, and in f32 the same logits within 1e-3, for four architectures.
#include "golden.h"

#include <gtest/gtest.h>

#include "asking.h"
#include "openvino/model_directory.h"
#include "openvino/openvino_task.h"
#include "openvino/tokenizer.h"

namespace ranking {
namespace {

using std::filesystem::path;

constexpr double kTolerance = 1e-3;

void expect_same_ids(const path& model, const Golden& golden) {
  const openvino::Tokenizer tokenizer(openvino::read_file(model / "tokenizer.json"), golden.max_tokens);
  for (const auto& pair : golden.pairs) {
    const auto query = tokenizer.encode_query(pair.query, Truncate::kEnd);
    const auto encoded = tokenizer.encode_pair(query, pair.passage, Truncate::kEnd, 0);
    EXPECT_EQ(encoded.ids, pair.ids) << pair.query.substr(0, 80) << " | " << pair.passage.substr(0, 80);
    EXPECT_EQ(encoded.type_ids, pair.type_ids) << pair.query.substr(0, 80);
  }
}

class Architecture : public testing::TestWithParam<const char*> {
 protected:
  const path model_ = path(RANKING_TEST_DATA) / "architectures" / GetParam();
  const Golden golden_ = read_golden(model_ / "golden.json");
};

TEST_P(Architecture, GivesTheSameTokenIds) { expect_same_ids(model_, golden_); }

TEST_P(Architecture, GivesTheSameLogits) {
  OpenvinoOptions options;
  options.model = model_;
  const auto task = make_openvino_task(options);
  EXPECT_EQ(task->info().max_tokens, golden_.max_tokens);
  double largest = 0;
  for (Ticket i = 0; i < golden_.pairs.size(); ++i) {
    const auto& pair = golden_.pairs[i];
    const auto scores = scores_of(submit(*task, i, request_of({pair.passage}, pair.query, Truncate::kEnd)));
    EXPECT_NEAR(scores.scores.at(0), pair.logit, kTolerance) << pair.query.substr(0, 80) << " | " << pair.passage.substr(0, 80);
    EXPECT_EQ(scores.tokens->per_pair.at(0), pair.ids.size());
    largest = std::max(largest, std::abs(scores.scores.at(0) - pair.logit));
  }
  RecordProperty("largest_difference", std::to_string(largest));
}

INSTANTIATE_TEST_SUITE_P(All, Architecture, testing::Values("bert", "bert-onnx", "xlm-roberta", "deberta-v2", "modernbert"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::erase(text, '-');
                           return text;
                         });

// Its logits are another test's matter: the served form is int8.
TEST(DefaultModel, GivesTheSameTokenIds) {
  const auto model = path(RANKING_MODELS) / "minilm-l6-rerank";
  if (!std::filesystem::exists(model)) GTEST_SKIP() << "the default model is not in " << RANKING_MODELS;
  expect_same_ids(model, read_golden(path(RANKING_TEST_DATA) / "goldens" / "minilm-l6-rerank.json"));
}

}  // namespace
}  // namespace ranking
