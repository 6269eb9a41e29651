// Bad days: every status and every answer that is none, each leaving the model in service and nothing alive.
#include <gtest/gtest.h>

#include <cstdlib>

#include "fixture.h"
#include "trtmc/outcome.h"
#include "trtmc/trtmc_task.h"

namespace ranking::trtmc {
namespace {

class Faults : public ::testing::Test {
 protected:
  std::unique_ptr<Task> pairwise() {
    auto options = options_for(folder_, {{"double", {{"tasks", {"text_pair_to_relevance 1.0"}}}}});
    options.allow_pairwise = true;
    return make_trtmc_task(options);
  }

  const Folder folder_;
  const std::unique_ptr<Task> task_ = make_trtmc_task(options_for(folder_));
};

TEST_F(Faults, EveryStatusHasItsOutcomeAndKeepsTheFamilysWords) {
  const auto f = [&](int status, ErrorCode code, const std::string& name) {
    const auto told = error(ask(*task_, request("q", {"fine", "double:status=" + std::to_string(status)})));
    EXPECT_EQ(told.code, code) << name;
    EXPECT_EQ(told.message, name + ": the double was told to fail with status " + std::to_string(status));
    EXPECT_EQ(told.retry_after_ms.has_value(), code == ErrorCode::kServerBusy) << name;
    const auto silent = error(ask(*task_, request("double:silent=" + std::to_string(status), {"fine"})));
    EXPECT_EQ(silent.code, code) << name;
    EXPECT_EQ(silent.message, "the model answered " + name);
    const auto view = error(ask(*task_, request("q", {"double:view=" + std::to_string(status)})));
    EXPECT_EQ(view.code, code) << name;
    EXPECT_EQ(scores(ask(*task_, request("q", {"fine"}))).scores.size(), 1u) << name;
    EXPECT_EQ(watch().results, 0) << name;
    EXPECT_EQ(watch().errors, 0) << name;
  };
  f(1, ErrorCode::kBackendFailed, "END");
  f(2, ErrorCode::kBackendRejectedRequest, "INVALID_ARGUMENT");
  f(3, ErrorCode::kBackendRejectedRequest, "INVALID_CONFIG");
  f(4, ErrorCode::kBackendRejectedRequest, "UNSUPPORTED");
  f(5, ErrorCode::kBackendFailed, "VERSION_MISMATCH");
  f(6, ErrorCode::kBackendUnavailable, "OUT_OF_MEMORY");
  f(7, ErrorCode::kBackendFailed, "INTERNAL_ERROR");
  f(8, ErrorCode::kServerBusy, "AGAIN");
  f(9, ErrorCode::kServerBusy, "BUSY");
  f(77, ErrorCode::kBackendFailed, "status 77");
}

TEST_F(Faults, AnAnswerThatIsNoneFailsTheRankAndSaysWhy) {
  const auto f = [&](const std::string& fault, const std::string& wanted) {
    const auto told = error(ask(*task_, request("q", {"fine", "double:" + fault})));
    EXPECT_EQ(told.code, ErrorCode::kBackendFailed) << fault;
    EXPECT_EQ(told.message, wanted);
    EXPECT_EQ(scores(ask(*task_, request("q", {"fine"}))).scores.size(), 1u) << fault;
    EXPECT_EQ(watch().results, 0) << fault;
  };
  f("count=1", "run: returned 3 scores for 2 documents");
  f("count=-1", "run: returned 1 scores for 2 documents");
  f("count=-2", "run: returned 0 scores for 2 documents");
  f("nan", "run: the score of document 1 is not finite");
  f("inf", "run: the score of document 1 is not finite");
  f("kind=0", "run: returned scores of unknown kind 0");
  f("kind=4", "run: returned scores of unknown kind 4");
  f("kind=3", "run: the kind of the scores is not that of the first run");
  f("nothing", "run: returned OK without a result");
}

TEST_F(Faults, TheFamilysOwnLimitSpeaksForItself) {
  auto options = options_for(folder_);
  options.config = {"max_words=12"};
  const auto task = make_trtmc_task(options);
  const auto told = error(
      ask(*task, request("q", {"three words here", "one two three four five six seven eight nine ten eleven twelve thirteen"})));
  EXPECT_EQ(told.code, ErrorCode::kBackendRejectedRequest);
  EXPECT_EQ(told.message, "INVALID_ARGUMENT: document 1 has 13 words, the limit is 12");
}

TEST_F(Faults, AFailingPairIsNamed) {
  const auto task = pairwise();
  const auto told = error(ask(*task, request("q", {"fine", "fine too", "double:status=2", "double:status=7"})));
  EXPECT_EQ(told.code, ErrorCode::kBackendRejectedRequest);
  EXPECT_EQ(told.passage, 2u);
  EXPECT_EQ(error(ask(*task, request("q", {"fine", "double:nan"}))).message, "run: the score of document 0 is not finite");
  EXPECT_EQ(error(ask(*task, request("q", {"fine", "double:kind=2"}))).code, ErrorCode::kBackendFailed);
  EXPECT_EQ(scores(ask(*task, request("q", {"fine"}))).scores.size(), 1u);
  EXPECT_EQ(watch().results, 0);
}

TEST_F(Faults, FailedCallsAreCounted) {
  ask(*task_, request("q", {"fine"}));
  ask(*task_, request("q", {"double:status=2"}));
  ask(*task_, request("q", {"double:status=9"}));
  ask(*task_, request("q", {"double:nan"}));
  ask(*task_, request("q", {}));
  const auto counters = health(*task_).counters;
  const auto f = [&](const std::string& name, uint64_t wanted) { EXPECT_EQ(counters.at(name), wanted) << name; };
  f("calls_total", 4);
  f("calls_failed_total", 3);
  f("pairs_total", 4);
}

// The double can leak on purpose: the figure that the other tests hold against zero does show a leak. In a process of its own,
// which ends without looking for leaks itself.
TEST(FaultsDeathTest, ALeakIsSeen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Folder folder;
  const auto leak = [&] {
    const auto answer = ask(*make_trtmc_task(options_for(folder)), request("q", {"double:leak"}));
    std::_Exit(scores(answer).scores.size() == 1 && watch().results == 1 && watch().models == 0 ? 0 : 1);
  };
  EXPECT_EXIT(leak(), ::testing::ExitedWithCode(0), "");
}

TEST(FaultsDeathTest, ACrashOfTheRuntimeEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Folder folder;
  EXPECT_DEATH(ask(*make_trtmc_task(options_for(folder)), request("q", {"double:crash"})), "");
}

TEST(Outcome, WordsOfTheRuntimeAreMarkedWhateverTheStatus) {
  for (const auto status :
       {abi::Status::kInvalidArgument, abi::Status::kInternalError, abi::Status::kOutOfMemory, abi::Status::kBusy}) {
    EXPECT_TRUE(run_error(CallError("run", status, "cannot score 'a secret'")).foreign);
    EXPECT_FALSE(run_error(CallError("run", status, "")).foreign);
  }
}

TEST(Outcome, WhatBreaksInThisProcessIsItsOwnFault) {
  EXPECT_EQ(run_error(std::runtime_error("broken")).code, ErrorCode::kBackendFailed);
  EXPECT_EQ(run_error(std::runtime_error("broken")).message, "broken");
  EXPECT_EQ(run_error(static_cast<const std::exception&>(std::bad_alloc())).code, ErrorCode::kBackendUnavailable);
}

}  // namespace
}  // namespace ranking::trtmc
