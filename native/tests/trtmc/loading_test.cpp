// What happens before the first rank: refusals, identity, facts for the operator.
#include <gtest/gtest.h>

#include <algorithm>

#include "fixture.h"
#include "task/digest.h"
#include "trtmc/trtmc_task.h"

namespace ranking::trtmc {
namespace {

using nlohmann::json;

std::string loading(const TrtmcOptions& options) {
  return thrown([&] { make_trtmc_task(options); });
}

// Loads, expects a refusal that says `wanted`, and that it left nothing alive.
void refuses(const TrtmcOptions& options, const std::string& wanted) {
  const auto message = loading(options);
  EXPECT_NE(message.find(wanted), std::string::npos) << message;
  EXPECT_EQ(watch().models, 0);
  EXPECT_EQ(watch().results, 0);
  EXPECT_EQ(watch().errors, 0);
}

class Loading : public ::testing::Test {
 protected:
  void SetUp() override { make_trtmc_task(options_for(folder_)); }  // opens the double, so that it can be watched
  const Folder folder_;
};

TEST_F(Loading, IdentityIsWhatBundleRuntimeAndOperatorSay) {
  auto options = options_for(folder_, {{"family", "eagle_vlm"}, {"backend", "trt"}});
  options.revision = "9e95da05";
  options.precision = "fp16";
  options.max_passages = 64;
  const auto task = make_trtmc_task(options);
  const auto& info = task->info();
  EXPECT_EQ(info.task, "text_query_documents_to_relevance");
  EXPECT_EQ(info.task_version, "1.0");
  EXPECT_EQ(info.model, "double");
  EXPECT_EQ(info.revision, "9e95da05");
  EXPECT_EQ(info.family, "eagle_vlm");
  EXPECT_EQ(info.backend, "trtmc");
  EXPECT_EQ(info.precision, "fp16");
  EXPECT_EQ(info.bundle_digest, file_digest(options.bundle));
  EXPECT_EQ(info.max_tokens, 0u);
  EXPECT_EQ(info.max_passages, 64u);
  EXPECT_FALSE(info.pointwise);
}

TEST_F(Loading, DetailsListRuntimeHeaderTasksAndControls) {
  const auto task = make_trtmc_task(options_for(folder_));
  const auto details = task->details();
  const auto f = [&](const std::string& name, const std::string& value) {
    const auto fits = [&](const auto& detail) { return detail.first == name && detail.second.starts_with(value); };
    EXPECT_TRUE(std::any_of(details.begin(), details.end(), fits)) << name << " " << value;
  };
  f("bundle", options_for(folder_).bundle.string());
  f("bundle_header", "{");
  f("runtime_version", "double 1.0");
  f("model_family", "double");
  f("model_backend", "double");
  f("declared_task", "reranking");
  f("task_on_offer", "text_query_documents_to_relevance 1.0");
  f("task_on_offer", "text_pair_to_relevance 1.0");
  f("served", "text_query_documents_to_relevance");
  f("control", "max_words (i64, default 0): documents of more words are rejected");
  f("control", "scale (f64, default 1.0): ");
  f("control", "squash (bool, default false): ");
  f("control", "fault (string, default depends): ");
  f("control", "offsets (i64_list, default []): ");
}

TEST_F(Loading, ScoreKindsAreToldHonestly) {
  const auto f = [&](const json& header, const std::vector<std::string>& config, ScoreKind wanted) {
    auto options = options_for(folder_, header);
    options.config = config;
    EXPECT_EQ(make_trtmc_task(options)->info().score_kind, wanted);
  };
  f({{"double", {{"score_kind", 1}}}}, {}, ScoreKind::kLogit);
  f({{"double", {{"score_kind", 2}}}}, {}, ScoreKind::kProbability);
  f({{"double", {{"score_kind", 3}}}}, {}, ScoreKind::kUnbounded);
  f(json::object(), {"squash=true"}, ScoreKind::kProbability);
}

TEST_F(Loading, BundlesThatAreNoRerankersAreRefused) {
  const auto f = [&](const std::string& task) {
    refuses(options_for(folder_, {{"task", task}}), "the bundle declares the task '" + task + "'");
  };
  f("encoding");
  f("embedding");
  f("text_to_embedding");
}

TEST_F(Loading, ABundleWithoutTheTaskIsRefusedWithWhatItHas) {
  const auto f = [&](const json& tasks, const std::string& wanted) {
    refuses(options_for(folder_, {{"double", {{"tasks", tasks}}}}), wanted);
  };
  f(json::array(), "does not offer text_query_documents_to_relevance 1.0, only: none");
  f({"text_continuation 1.0", "text_to_embedding 1.0"}, "only: text_continuation 1.0, text_to_embedding 1.0");
  f({"text_query_documents_to_relevance 2.0"}, "only: text_query_documents_to_relevance 2.0");
  f({"text_query_documents_to_relevance 1.1"}, "only: text_query_documents_to_relevance 1.1");
  f({"text_pair_to_relevance 1.0"}, "only: text_pair_to_relevance 1.0; --allow-pairwise serves it");
}

TEST_F(Loading, PairwiseIsServedBehindItsFlagAndSaysSo) {
  auto options = options_for(folder_, {{"double", {{"tasks", {"text_pair_to_relevance 1.0"}}}}});
  options.allow_pairwise = true;
  const auto task = make_trtmc_task(options);
  EXPECT_EQ(task->info().task, "text_pair_to_relevance");
  EXPECT_TRUE(task->info().pointwise);
}

TEST_F(Loading, TheFlagForPairsChangesNothingWhereTheRankingTaskIsOnOffer) {
  auto options = options_for(folder_);
  options.allow_pairwise = true;
  EXPECT_EQ(make_trtmc_task(options)->info().task, "text_query_documents_to_relevance");
}

TEST_F(Loading, EveryFailingCallRefusesToStartAndLeaksNothing) {
  const auto f = [&](const char* function, int status, const std::string& wanted) {
    refuses(options_for(folder_, {{"double", {{"fail", {{function, status}}}}}}), wanted);
  };
  f("model_load", 5, "model_load: VERSION_MISMATCH: the bundle tells model_load to fail");
  f("model_load", 6, "model_load: OUT_OF_MEMORY");
  f("model_info", 7, "model_info: INTERNAL_ERROR");
  f("model_task_count", 7, "model_task_count: INTERNAL_ERROR");
  f("model_task_info", 2, "model_task_info: INVALID_ARGUMENT");
  f("model_get_task_api", 4, "model_get_task_api: UNSUPPORTED");
  f("config_field_count", 7, "config_field_count: INTERNAL_ERROR");
  f("config_field_info", 42, "config_field_info: status 42");
}

TEST_F(Loading, BrokenTaskTablesAreRefused) {
  const auto f = [&](const json& told, const std::string& wanted) { refuses(options_for(folder_, {{"double", told}}), wanted); };
  f({{"null_task_api", true}}, "text_query_documents_to_relevance: the runtime gave no table");
  f({{"task_table", "short"}}, "text_query_documents_to_relevance: the table has 24 bytes, version 1.0 has 32");
  f({{"task_table", "major"}}, "text_query_documents_to_relevance: the table has major version 2");
  f({{"task_table", "no_run"}}, "text_query_documents_to_relevance: the table has no run");
}

TEST_F(Loading, AFailingWarmUpRefusesToStart) {
  const auto f = [&](const std::string& fault, const std::string& wanted) {
    auto options = options_for(folder_);
    options.config = {"fault=double:" + fault};
    refuses(options, wanted);
  };
  f("status=9", "run: BUSY: the double was told to fail with status 9");
  f("silent=6", "run: OUT_OF_MEMORY (the runtime gave no detail)");
  f("nan", "the score of document 1 is not finite");
  f("count=-1", "returned 1 scores for 2 documents");
  f("kind=4", "scores of unknown kind 4");
  f("nothing", "returned OK without a result");
}

TEST_F(Loading, SettingsTheFamilyDoesNotHaveAreRefused) {
  auto options = options_for(folder_);
  options.config = {"temperature=1"};
  refuses(options, "--config temperature: the family has no such control");
}

TEST_F(Loading, PathsAreNeeded) {
  refuses({}, "--task trtmc needs --runtime-root and --bundle");
  auto options = options_for(folder_);
  options.tokenizer = folder_.path() / "none.json";
  options.tokenizer_max_tokens = 512;
  refuses(options, "cannot open the tokenizer");
}

TEST_F(Loading, EveryReplicaIsAModelAndAllGoWithTheTask) {
  auto options = options_for(folder_);
  options.replicas = 3;
  {
    const auto task = make_trtmc_task(options);
    EXPECT_EQ(watch().models, 3);
  }
  EXPECT_EQ(watch().models, 0);
  EXPECT_EQ(watch().results, 0);
}

}  // namespace
}  // namespace ranking::trtmc
