// Tokenized pairs that wait for a batch, and the order in which they leave. No threads, no clock: the scheduler owns it.
//
// Fairness is by tokens across requests. A virtual clock runs at the speed at which every waiting request would progress if all
// shared the engine equally; on arrival each gets the virtual time at which it would then be finished, and the earliest goes
// first (Friedman and Henderson's fair sojourn protocol). So none finishes much later than under equal sharing, most finish
// earlier, a short request passes the long ones before it, and a long one cannot starve: its time is fixed while that of later
// ones keeps growing.
//
// Batches are made of pairs of one bucket only. The bucket, the pair's length padded to a multiple of kLengthStep, depends on the
// pair alone, hence so does its padding, and a score does not depend on which pairs share the batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "openvino/job.h"

namespace ranking::openvino {

// 16 is the row block of the int8 and f32 kernels: lengths between its multiples take as long as the next multiple.
constexpr size_t kLengthStep = 16;

struct Row {
  JobPtr job;
  uint32_t pair = 0;

  const Pair& tokens() const { return job->pairs[pair]; }
};

struct Batch {
  size_t length = 0;  // of every row, padding included
  std::vector<Row> rows;
};

class FairQueue {
 public:
  // max_length: rows are never padded beyond it, since a model may have no position for what is behind.
  explicit FairQueue(size_t max_length) : max_length_(max_length) {}

  size_t bucket_of(size_t tokens) const { return std::min((tokens + kLengthStep - 1) / kLengthStep * kLengthStep, max_length_); }

  // All pairs of a tokenized job.
  void add(const JobPtr& job);
  // Forgets the pairs of a job that still wait.
  void remove(Ticket ticket);
  // Pairs for one batch of at most max_tokens, padding included, and at least one pair. The queue must not be empty.
  Batch take(size_t max_tokens);

  bool empty() const { return entries_.empty(); }
  size_t requests() const { return entries_.size(); }
  size_t pairs() const { return pairs_; }
  size_t padded_tokens() const { return padded_tokens_; }

 private:
  struct Entry {
    JobPtr job;
    std::map<size_t, std::vector<uint32_t>> waiting;  // pairs by bucket; no bucket is empty
  };
  using Order = std::pair<double, uint64_t>;  // virtual finish, then arrival

  const size_t max_length_;
  std::map<Order, Entry> entries_;
  std::unordered_map<Ticket, Order> order_of_;
  double virtual_now_ = 0;
  uint64_t arrivals_ = 0;
  size_t pairs_ = 0;
  size_t padded_tokens_ = 0;
};

}  // namespace ranking::openvino
