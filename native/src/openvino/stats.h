// Counters and histograms of the openvino Task, as its pong carries them. Owned by the scheduler's thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "openvino/job.h"
#include "openvino/workers.h"
#include "task/task.h"

namespace ranking::openvino {

class Stats {
 public:
  explicit Stats(unsigned streams);

  // occupied: how long the stream could do nothing else, the ways to its thread and back included.
  void count_batch(const BatchResult& result, Clock::duration occupied);

  // Tokens, padding apart, that all streams together compute in a second, lately; 0 before the first batch.
  double tokens_per_second() const { return recent_seconds_ == 0 ? 0 : recent_tokens_ / recent_seconds_ * streams_; }

  // Adds counters and histograms.
  void report(TaskHealth& health) const;

 private:
  const unsigned streams_;
  // Of the last twenty batches or so, by weight.
  double recent_tokens_ = 0;
  double recent_seconds_ = 0;
  std::map<std::string, uint64_t> counters_;
  // Counts per bucket of ipc/PROTOCOL.md, section 9, not yet cumulative; the last one is +Inf.
  std::array<uint64_t, 9> batch_pairs_{};
  std::array<uint64_t, 10> batch_tokens_{};
  std::array<uint64_t, 15> call_us_{};
};

}  // namespace ranking::openvino
