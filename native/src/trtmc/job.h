// A rank on its way through the trtmc Task.
#pragma once

#include <atomic>
#include <optional>

#include "task/task.h"

namespace ranking::trtmc {

struct Job {
  Job(Ticket of, RankRequest what, Completion then)
      : ticket(of), request(std::move(what)), done(std::move(then)), admitted(Clock::now()) {}

  bool late(Clock::time_point now) const { return request.deadline && *request.deadline <= now; }

  const Ticket ticket;
  RankRequest request;
  Completion done;
  const Clock::time_point admitted;
  std::optional<TokenCounts> tokens;  // set by the counting stage, if there is one
  uint64_t tokenize_us = 0;
  std::atomic<bool> cancelled{false};  // while it runs: pairs not yet begun are dropped
};

}  // namespace ranking::trtmc
