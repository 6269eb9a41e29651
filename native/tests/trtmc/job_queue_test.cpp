#include "trtmc/job_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace ranking::trtmc {
namespace {

JobPtr job(Ticket ticket, size_t passages = 1, std::optional<Clock::time_point> deadline = std::nullopt) {
  RankRequest request;
  request.passages.assign(passages, "p");
  request.deadline = deadline;
  return std::make_shared<Job>(ticket, std::move(request), [](RankOutcome) {});
}

Clock::time_point in(std::chrono::milliseconds time) { return Clock::now() + time; }

constexpr JobQueue::Bounds kRoomy{100, 1000};

TEST(JobQueue, RunsInOrderOfArrival) {
  JobQueue queue(kRoomy, false);
  for (Ticket ticket = 1; ticket <= 3; ++ticket) EXPECT_FALSE(queue.push(job(ticket)));
  for (Ticket ticket = 1; ticket <= 3; ++ticket) EXPECT_EQ(queue.next_to_run()->ticket, ticket);
}

TEST(JobQueue, RefusesWhatIsOverABound) {
  const auto f = [](JobQueue::Bounds bounds, const std::vector<size_t>& taken, size_t refused) {
    JobQueue queue(bounds, false);
    for (const size_t passages : taken) EXPECT_FALSE(queue.push(job(1, passages)));
    const auto refusal = queue.push(job(2, refused));
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->code, ErrorCode::kServerBusy);
    EXPECT_NE(refusal->message.find("the queue is full"), std::string::npos);
    queue.next_to_run();
    EXPECT_FALSE(queue.push(job(3, refused)));  // there is a place again
  };
  f({2, 1000}, {1, 1}, 1);
  f({100, 10}, {4, 4}, 3);
  f({100, 10}, {12}, 1);  // one that is over the bound by itself may wait alone
}

TEST(JobQueue, WhatRunsTakesNoPlace) {
  JobQueue queue({1, 1000}, false);
  for (Ticket ticket = 1; ticket <= 5; ++ticket) {
    EXPECT_FALSE(queue.push(job(ticket)));
    EXPECT_EQ(queue.next_to_run()->ticket, ticket);
  }
}

TEST(JobQueue, ACancelledJobLeavesAndIsToldOnce) {
  JobQueue queue(kRoomy, false);
  queue.push(job(1));
  queue.push(job(2, 7));
  queue.cancel(2);
  queue.cancel(2);
  queue.cancel(99);
  const auto errands = queue.wait();
  ASSERT_EQ(errands.abandoned.size(), 1u);
  EXPECT_EQ(errands.abandoned[0].first->ticket, 2u);
  EXPECT_EQ(errands.abandoned[0].second.code, ErrorCode::kCancelled);
  EXPECT_EQ(errands.load.requests, 1u);
  EXPECT_EQ(errands.load.documents, 1u);
  EXPECT_EQ(queue.next_to_run()->ticket, 1u);
}

TEST(JobQueue, ARunningJobOnlyHearsOfItsCancel) {
  JobQueue queue(kRoomy, false);
  queue.push(job(1));
  const auto running = queue.next_to_run();
  queue.cancel(1);
  EXPECT_TRUE(running->cancelled);
  queue.inquire([](TaskHealth) {});
  const auto errands = queue.wait();
  EXPECT_TRUE(errands.abandoned.empty());
  EXPECT_EQ(errands.load.running, 1u);
  queue.finish(running);
  queue.inquire([](TaskHealth) {});
  EXPECT_EQ(queue.wait().load.running, 0u);
}

TEST(JobQueue, ALateJobIsRefusedAtTheDoor) {
  JobQueue queue(kRoomy, false);
  const auto refusal = queue.push(job(1, 1, in(std::chrono::milliseconds(-1))));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, ErrorCode::kDeadlineExceeded);
}

TEST(JobQueue, ADeadlineThatPassesWhileNoModelIsFreeIsTold) {
  JobQueue queue(kRoomy, false);
  queue.push(job(1, 1, in(std::chrono::milliseconds(5))));
  queue.push(job(2));
  const auto errands = queue.wait();  // comes back by the clock alone
  ASSERT_EQ(errands.abandoned.size(), 1u);
  EXPECT_EQ(errands.abandoned[0].first->ticket, 1u);
  EXPECT_EQ(errands.abandoned[0].second.code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(queue.next_to_run()->ticket, 2u);
}

TEST(JobQueue, AnEarlierDeadlineWakesTheClerk) {
  JobQueue queue(kRoomy, false);
  queue.push(job(1, 1, in(std::chrono::hours(1))));
  std::jthread later([&] { queue.push(job(2, 1, in(std::chrono::milliseconds(5)))); });
  const auto errands = queue.wait();
  ASSERT_EQ(errands.abandoned.size(), 1u);
  EXPECT_EQ(errands.abandoned[0].first->ticket, 2u);
}

TEST(JobQueue, ALateJobIsNotTakenToRun) {
  JobQueue queue(kRoomy, false);
  queue.push(job(1, 1, in(std::chrono::milliseconds(2))));
  queue.push(job(2));
  std::this_thread::sleep_for(std::chrono::milliseconds(4));
  EXPECT_EQ(queue.next_to_run()->ticket, 2u);
  EXPECT_EQ(queue.wait().abandoned[0].first->ticket, 1u);
}

TEST(JobQueue, CountingComesBeforeRunning) {
  JobQueue queue(kRoomy, true);
  queue.push(job(1));
  queue.push(job(2));
  const auto first = queue.next_to_count();
  const auto second = queue.next_to_count();
  EXPECT_EQ(first->ticket, 1u);
  second->tokens = TokenCounts{{5, 6}, 0, std::nullopt};
  queue.counted(second);
  queue.inquire([](TaskHealth) {});
  EXPECT_EQ(queue.wait().load.tokens, 11u);
  EXPECT_EQ(queue.next_to_run()->ticket, 2u);  // not held up by the one still counted
  queue.counted(first);
  EXPECT_EQ(queue.next_to_run()->ticket, 1u);
}

TEST(JobQueue, AJobCancelledWhileItIsCountedNeverRuns) {
  JobQueue queue(kRoomy, true);
  queue.push(job(1));
  const auto counting = queue.next_to_count();
  queue.cancel(1);
  EXPECT_FALSE(queue.abandon(counting));  // somebody else answers it
  queue.counted(counting);
  EXPECT_EQ(queue.wait().abandoned[0].first, counting);
  queue.push(job(2));
  queue.counted(queue.next_to_count());
  EXPECT_EQ(queue.next_to_run()->ticket, 2u);
}

TEST(JobQueue, AbandonTakesAWaitingJobOut) {
  JobQueue queue(kRoomy, true);
  queue.push(job(1));
  const auto counting = queue.next_to_count();
  EXPECT_TRUE(queue.abandon(counting));
  EXPECT_FALSE(queue.abandon(counting));
}

TEST(JobQueue, ADrainingQueueRefusesNewJobsAndKeepsTheOld) {
  JobQueue queue(kRoomy, false);
  queue.push(job(1));
  queue.drain();
  const auto refusal = queue.push(job(2));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, ErrorCode::kBackendUnavailable);
  EXPECT_EQ(queue.next_to_run()->ticket, 1u);
}

TEST(JobQueue, CloseAbandonsWhatWaitsAndFreesWhoWaits) {
  JobQueue queue(kRoomy, true);
  queue.push(job(1));
  std::jthread runner([&] { EXPECT_EQ(queue.next_to_run(), nullptr); });
  queue.close();
  EXPECT_EQ(queue.next_to_count(), nullptr);
  const auto errands = queue.wait();
  EXPECT_TRUE(errands.closed);
  ASSERT_EQ(errands.abandoned.size(), 1u);
  EXPECT_EQ(errands.abandoned[0].second.code, ErrorCode::kBackendUnavailable);
  EXPECT_TRUE(queue.push(job(2)));
}

}  // namespace
}  // namespace ranking::trtmc
