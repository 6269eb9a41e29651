// The interface of task.h as the null Task keeps it: admission, order, cancel, deadline, drain, each with exactly one completion.
#include "null/null_task.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace ranking {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kLong = 60'000;  // a call that does not end within a test

RankRequest request(std::optional<Clock::time_point> deadline = std::nullopt) {
  RankRequest made;
  made.id = "r";
  made.query = "query";
  made.passages = {"one", "two"};
  made.deadline = deadline;
  return made;
}

std::future<RankOutcome> submit(Task& task, Ticket ticket, RankRequest made = request()) {
  auto promise = std::make_shared<std::promise<RankOutcome>>();
  auto answer = promise->get_future();
  task.submit(ticket, std::move(made), [promise](RankOutcome outcome) { promise->set_value(std::move(outcome)); });
  return answer;
}

TaskHealth health(Task& task) {
  auto promise = std::make_shared<std::promise<TaskHealth>>();
  auto answer = promise->get_future();
  task.health([promise](TaskHealth now) { promise->set_value(std::move(now)); });
  return answer.get();
}

void wait_running(Task& task) {
  while (health(task).running_batches == 0) std::this_thread::sleep_for(1ms);
}

ErrorCode code_of(std::future<RankOutcome>& answer) { return std::get<RankError>(answer.get()).code; }

TEST(NullTask, ScoresAndTimes) {
  NullTask task({.delay_ms = 5});
  const auto start = Clock::now();
  const auto scores = std::get<RankScores>(submit(task, 1).get());
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  EXPECT_EQ(scores.scores.size(), 2u);
  EXPECT_EQ(scores.timing.batches, 1u);
  EXPECT_GE(scores.timing.public_task_call_wall_us, 5000u);
  EXPECT_LE(scores.timing.queue_us + scores.timing.public_task_call_wall_us, static_cast<uint64_t>(took));
}

TEST(NullTask, TellsWhatItDoes) {
  NullTask task({.delay_ms = kLong});
  auto running = submit(task, 1);
  wait_running(task);
  auto queued = submit(task, 2);
  const TaskHealth now = health(task);
  EXPECT_TRUE(now.ready);
  EXPECT_EQ(now.running_batches, 1u);
  EXPECT_EQ(now.queued_requests, 1u);
  EXPECT_EQ(now.queued_pairs, 2u);
}

TEST(NullTask, RefusesBeyondItsQueue) {
  NullTask task({.delay_ms = kLong, .queue = 2});
  auto running = submit(task, 1);
  wait_running(task);
  auto first = submit(task, 2);
  auto second = submit(task, 3);
  auto third = submit(task, 4);
  const auto error = std::get<RankError>(third.get());
  EXPECT_EQ(error.code, ErrorCode::kServerBusy);
  EXPECT_GT(error.retry_after_ms.value(), 0u);
}

TEST(NullTask, CancelFreesAPlaceInTheQueue) {
  NullTask task({.delay_ms = kLong, .queue = 1});
  auto running = submit(task, 1);
  wait_running(task);
  auto queued = submit(task, 2);
  task.cancel(2);
  task.cancel(77);
  EXPECT_EQ(code_of(queued), ErrorCode::kCancelled);
  auto next = submit(task, 3);
  EXPECT_EQ(health(task).queued_requests, 1u);
}

TEST(NullTask, ARunningCallIsNotInterruptedByCancel) {
  NullTask task({.delay_ms = 500});
  auto running = submit(task, 1);
  wait_running(task);
  task.cancel(1);
  EXPECT_TRUE(std::holds_alternative<RankScores>(running.get()));
}

TEST(NullTask, PassedDeadlinesAreNotComputed) {
  NullTask task({.delay_ms = 30});
  auto late = submit(task, 1, request(Clock::now() - 1ms));
  EXPECT_EQ(code_of(late), ErrorCode::kDeadlineExceeded);
  auto running = submit(task, 2);
  auto queued = submit(task, 3, request(Clock::now() + 5ms));
  EXPECT_TRUE(std::holds_alternative<RankScores>(running.get()));
  EXPECT_EQ(code_of(queued), ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(health(task).counters.at("calls_total"), 1u);
}

TEST(NullTask, ADeadlineThatPassesDuringTheCallIsExceeded) {
  NullTask task({.delay_ms = 30});
  auto running = submit(task, 1, request(Clock::now() + 10ms));
  EXPECT_EQ(code_of(running), ErrorCode::kDeadlineExceeded);
}

TEST(NullTask, DrainFinishesWhatWasAccepted) {
  NullTask task({.delay_ms = 10});
  auto running = submit(task, 1);
  auto queued = submit(task, 2);
  task.drain();
  auto refused = submit(task, 3);
  EXPECT_EQ(code_of(refused), ErrorCode::kBackendUnavailable);
  EXPECT_TRUE(std::holds_alternative<RankScores>(running.get()));
  EXPECT_TRUE(std::holds_alternative<RankScores>(queued.get()));
  EXPECT_FALSE(health(task).ready);
}

TEST(NullTask, TheEndAnswersWhatIsLeft) {
  std::future<RankOutcome> running, queued;
  {
    NullTask task({.delay_ms = kLong});
    running = submit(task, 1);
    wait_running(task);
    queued = submit(task, 2);
  }
  EXPECT_TRUE(std::holds_alternative<RankScores>(running.get()));
  EXPECT_EQ(code_of(queued), ErrorCode::kBackendUnavailable);
}

TEST(NullTask, ManyCallersEachGetOneAnswer) {
  constexpr uint64_t kThreads = 4, kEach = 500;
  std::atomic<uint64_t> answers{0};
  {
    NullTask task({.queue = 50});
    std::vector<std::thread> callers;
    for (uint64_t t = 0; t < kThreads; ++t) {
      callers.emplace_back([&, t] {
        for (uint64_t i = 0; i < kEach; ++i) {
          task.submit(t * kEach + i, request(), [&](const RankOutcome&) { ++answers; });
          if (i % 3 == 0) task.cancel(t * kEach + i);
          if (i % 50 == 0) task.health([](const TaskHealth&) {});
        }
      });
    }
    for (auto& caller : callers) caller.join();
  }
  EXPECT_EQ(answers, kThreads * kEach);
}

}  // namespace
}  // namespace ranking
