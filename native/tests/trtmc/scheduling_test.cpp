// Runs, queue and the people who ask, all together; runs are held at the double's gate, so nothing here depends on time.
#include <gtest/gtest.h>

#include <thread>

#include "fixture.h"
#include "trtmc/trtmc_task.h"

namespace ranking::trtmc {
namespace {

class Scheduling : public ::testing::Test {
 protected:
  std::unique_ptr<Task> load(const TrtmcOptions& options) {
    auto task = make_trtmc_task(options);
    set_gate(false);
    return task;
  }
  void TearDown() override { set_gate(true); }

  static RankRequest held() { return request("double:gate", {"a"}); }

  const Folder folder_;
};

TEST_F(Scheduling, OneRunAtATimePerModelAndAsManyAsReplicas) {
  auto options = options_for(folder_);
  options.replicas = 2;
  const auto task = load(options);
  std::vector<std::future<RankOutcome>> answers;
  for (int i = 0; i < 5; ++i) answers.push_back(submit(*task, held()));
  wait_for_runs(*task, 2);
  EXPECT_EQ(health(*task).queued_requests, 3u);
  set_gate(true);
  for (auto& answer : answers) EXPECT_EQ(scores(answer.get()).scores.size(), 1u);
  EXPECT_EQ(watch().overlaps, 0u);
}

TEST_F(Scheduling, AFullQueueRefusesAtOnceWithATimeToRetry) {
  auto options = options_for(folder_);
  options.queue_requests = 2;
  const auto task = load(options);
  auto running = submit(*task, held());
  wait_for_runs(*task, 1);
  auto first = submit(*task, request("q", {"a"}));
  auto second = submit(*task, request("q", {"a"}));
  const auto refused = error(ask(*task, request("q", {"a"})));  // answered while the model is held
  EXPECT_EQ(refused.code, ErrorCode::kServerBusy);
  EXPECT_GE(refused.retry_after_ms.value(), 1u);
  set_gate(true);
  for (auto* answer : {&running, &first, &second}) EXPECT_EQ(scores(answer->get()).scores.size(), 1u);
}

TEST_F(Scheduling, ACancelledRankIsAnsweredWhileTheModelIsHeld) {
  const auto task = load(options_for(folder_));
  auto running = submit(*task, held());
  wait_for_runs(*task, 1);
  Ticket ticket = 0;
  auto waiting = submit(*task, request("q", {"a"}), &ticket);
  const auto runs = watch().runs;
  task->cancel(ticket);
  EXPECT_EQ(error(waiting.get()).code, ErrorCode::kCancelled);
  set_gate(true);
  EXPECT_EQ(scores(running.get()).scores.size(), 1u);
  EXPECT_EQ(watch().runs, runs);
}

TEST_F(Scheduling, ADeadlineIsToldWhileTheModelIsHeld) {
  const auto task = load(options_for(folder_));
  auto running = submit(*task, held());
  wait_for_runs(*task, 1);
  auto late = request("q", {"a"});
  late.deadline = Clock::now() + std::chrono::milliseconds(5);
  EXPECT_EQ(error(ask(*task, late)).code, ErrorCode::kDeadlineExceeded);
  set_gate(true);
  EXPECT_EQ(scores(running.get()).scores.size(), 1u);
}

TEST_F(Scheduling, ADeadlineThatPassesDuringTheRunIsKept) {
  const auto task = load(options_for(folder_));
  auto late = held();
  late.deadline = Clock::now() + std::chrono::milliseconds(200);
  auto answer = submit(*task, late);
  wait_for_runs(*task, 1);
  while (Clock::now() < *late.deadline) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  set_gate(true);
  EXPECT_EQ(error(answer.get()).code, ErrorCode::kDeadlineExceeded);
}

TEST_F(Scheduling, ACancelledPairwiseRankStopsBetweenTwoRuns) {
  auto options = options_for(folder_, {{"double", {{"tasks", {"text_pair_to_relevance 1.0"}}}}});
  options.allow_pairwise = true;
  const auto task = load(options);
  const auto runs = watch().runs;
  Ticket ticket = 0;
  auto answer = submit(*task, request("double:gate", std::vector<std::string>(100, "a")), &ticket);
  while (watch().runs == runs) std::this_thread::yield();
  task->cancel(ticket);
  set_gate(true);
  EXPECT_EQ(error(answer.get()).code, ErrorCode::kCancelled);
  EXPECT_EQ(watch().runs, runs + 1);
}

TEST_F(Scheduling, HealthSpeaksWhileTheModelIsHeld) {
  const auto task = load(options_for(folder_));
  EXPECT_TRUE(health(*task).ready);
  EXPECT_EQ(health(*task).oldest_call_ms, 0u);
  auto running = submit(*task, held());
  wait_for_runs(*task, 1);
  auto waiting = submit(*task, request("q", {"a", "b", "c"}));
  while (health(*task).oldest_call_ms < 3) std::this_thread::yield();
  const auto busy = health(*task);
  EXPECT_EQ(busy.running_batches, 1u);
  EXPECT_EQ(busy.queued_requests, 1u);
  EXPECT_EQ(busy.queued_pairs, 3u);
  EXPECT_EQ(busy.queued_tokens_max, 0u);
  set_gate(true);
  running.get();
  waiting.get();
  const auto idle = health(*task);
  EXPECT_EQ(idle.oldest_call_ms, 0u);
  EXPECT_EQ(idle.histograms.at("batch_pairs"), (std::vector<uint64_t>{1, 1, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(idle.histograms.at("call_us").size(), 15u);
  EXPECT_EQ(idle.histograms.at("call_us").back(), 2u);
  EXPECT_EQ(idle.counters.at("pairs_total"), 4u);
}

TEST_F(Scheduling, ADrainingTaskFinishesWhatItHas) {
  const auto task = load(options_for(folder_));
  auto running = submit(*task, held());
  wait_for_runs(*task, 1);
  auto waiting = submit(*task, request("q", {"a"}));
  task->drain();
  EXPECT_FALSE(health(*task).ready);
  EXPECT_EQ(error(ask(*task, request("q", {"a"}))).code, ErrorCode::kBackendUnavailable);
  set_gate(true);
  EXPECT_EQ(scores(running.get()).scores.size(), 1u);
  EXPECT_EQ(scores(waiting.get()).scores.size(), 1u);
}

TEST_F(Scheduling, ATaskThatGoesAnswersEveryRank) {
  auto task = load(options_for(folder_));
  auto running = submit(*task, held());
  wait_for_runs(*task, 1);
  auto waiting = submit(*task, request("q", {"a"}));
  std::jthread going([&] { task.reset(); });
  EXPECT_EQ(error(waiting.get()).code, ErrorCode::kBackendUnavailable);
  set_gate(true);
  EXPECT_EQ(scores(running.get()).scores.size(), 1u);
  going.join();
  EXPECT_EQ(watch().models, 0);
}

}  // namespace
}  // namespace ranking::trtmc
