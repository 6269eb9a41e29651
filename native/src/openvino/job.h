// One accepted request on its way through the Task. It has one owner at a time: the scheduler until it is admitted, the
// tokenizing stage until its pairs are made, then the scheduler again; only `abandoned` is shared.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "openvino/tokenizer.h"
#include "task/task.h"

namespace ranking::openvino {

struct Job {
  Job(Ticket ticket_, RankRequest request_, Completion done_)
      : ticket(ticket_), request(std::move(request_)), done(std::move(done_)) {}

  const Ticket ticket;
  RankRequest request;  // passages are dropped once tokenized
  Completion done;
  const Clock::time_point arrived = Clock::now();

  // Set when nobody waits any more (cancelled, past its deadline): the tokenizing stage may stop.
  std::atomic<bool> abandoned = false;

  // From the tokenizing stage.
  std::vector<Pair> pairs;         // each distinct passage once, with the query
  std::vector<uint32_t> pair_of;   // of each passage, in passage order
  std::optional<RankError> error;  // the request cannot be scored
  Clock::duration tokenizing{};    // first slice to last

  // From the scheduler.
  uint64_t charged = 0;       // tokens counted against the queue bound
  std::vector<float> scores;  // of each pair
  size_t unscored = 0;
  uint64_t padding = 0;
  uint32_t batches = 0;
  Clock::time_point first_start = Clock::time_point::max();
  Clock::time_point last_end = Clock::time_point::min();
};

using JobPtr = std::shared_ptr<Job>;

}  // namespace ranking::openvino
