// Order and shape of batches, without threads: every pair once, one bucket a batch, fair by tokens.
#include "openvino/fair_queue.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace ranking::openvino {
namespace {

JobPtr job_of(Ticket ticket, const std::vector<size_t>& lengths) {
  auto job = std::make_shared<Job>(ticket, RankRequest{}, nullptr);
  for (const auto length : lengths) job->pairs.push_back({std::vector<uint32_t>(length), std::vector<uint8_t>(length)});
  return job;
}

// Tickets of the batches' first rows, in order, until the queue is empty.
std::vector<Ticket> drain(FairQueue& queue, size_t max_tokens) {
  std::vector<Ticket> order;
  while (!queue.empty()) order.push_back(queue.take(max_tokens).rows.front().job->ticket);
  return order;
}

TEST(FairQueue, PadsToABucketThatDependsOnThePairAlone) {
  const FairQueue queue(500);
  EXPECT_EQ(queue.bucket_of(1), 16u);
  EXPECT_EQ(queue.bucket_of(16), 16u);
  EXPECT_EQ(queue.bucket_of(17), 32u);
  EXPECT_EQ(queue.bucket_of(499), 500u) << "never beyond what the model has positions for";
}

TEST(FairQueue, GivesEveryPairOnceInBatchesOfOneBucketWithinTheBudget) {
  std::mt19937 random(7);
  for (const size_t budget : {16u, 100u, 256u, 4096u}) {
    FairQueue queue(512);
    std::set<std::pair<Ticket, uint32_t>> expected, seen;
    for (Ticket ticket = 0; ticket < 20; ++ticket) {
      std::vector<size_t> lengths(1 + random() % 60);
      for (auto& length : lengths) length = 1 + random() % 512;
      for (uint32_t i = 0; i < lengths.size(); ++i) expected.insert({ticket, i});
      queue.add(job_of(ticket, lengths));
    }
    while (!queue.empty()) {
      const auto batch = queue.take(budget);
      EXPECT_TRUE(batch.rows.size() == 1 || batch.rows.size() * batch.length <= budget);
      for (const auto& row : batch.rows) {
        EXPECT_EQ(queue.bucket_of(row.tokens().ids.size()), batch.length);
        EXPECT_TRUE(seen.insert({row.job->ticket, row.pair}).second) << "a pair came twice";
      }
    }
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(queue.pairs(), 0u);
    EXPECT_EQ(queue.padded_tokens(), 0u);
  }
}

TEST(FairQueue, FillsABatchFromOtherRequests) {
  FairQueue queue(512);
  for (Ticket ticket = 1; ticket <= 4; ++ticket) queue.add(job_of(ticket, {60, 200}));
  const auto longer = queue.take(1000);
  EXPECT_EQ(longer.length, 208u);
  EXPECT_EQ(longer.rows.size(), 4u);
}

TEST(FairQueue, AShortRequestPassesLongOnes) {
  FairQueue queue(512);
  queue.add(job_of(1, std::vector<size_t>(100, 208)));
  queue.add(job_of(2, std::vector<size_t>(100, 208)));
  queue.take(256);
  queue.add(job_of(3, {64, 64, 64, 64}));
  EXPECT_EQ(queue.take(256).rows.front().job->ticket, 3u);
}

TEST(FairQueue, ALongRequestIsNotStarvedByShortOnes) {
  FairQueue queue(512);
  queue.add(job_of(0, std::vector<size_t>(20, 256)));
  size_t batches = 0;
  for (Ticket ticket = 1; queue.pairs() > 0 && ticket < 1000; ++ticket) {
    queue.add(job_of(ticket, {240}));  // the engine is offered as much as it computes, for ever
    const auto batch = queue.take(256);
    batches += 1;
    if (batch.rows.front().job->ticket == 0) break;
  }
  EXPECT_LE(batches, 2u * 20 + 2) << "under equal sharing it would be half way by then";
}

TEST(FairQueue, EqualRequestsGoFirstComeFirstServed) {
  FairQueue queue(512);
  for (Ticket ticket = 1; ticket <= 3; ++ticket) queue.add(job_of(ticket, {100, 100}));
  EXPECT_EQ(drain(queue, 100), (std::vector<Ticket>{1, 1, 2, 2, 3, 3}));
}

TEST(FairQueue, RemoveForgetsWhatWaits) {
  FairQueue queue(512);
  queue.add(job_of(1, {10, 20, 30}));
  queue.add(job_of(2, {10}));
  queue.remove(1);
  queue.remove(99);
  EXPECT_EQ(queue.requests(), 1u);
  EXPECT_EQ(queue.pairs(), 1u);
  EXPECT_EQ(drain(queue, 1000), (std::vector<Ticket>{2}));
}

}  // namespace
}  // namespace ranking::openvino
