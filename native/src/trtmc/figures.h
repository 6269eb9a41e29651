// The counters and histograms of the trtmc Task, as its pong carries them. May be used from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "task/task.h"

namespace ranking::trtmc {

class Figures {
 public:
  // One run over so many documents; ok tells whether it gave an answer.
  void count_run(size_t documents, Clock::duration took, bool ok);

  // How long a run lasts, lately; 0 before the first.
  Clock::duration typical_run() const;

  void report(TaskHealth& health) const;

 private:
  // Counts per bucket of ipc/PROTOCOL.md, section 9, not yet cumulative; the last bucket is +Inf.
  std::array<uint64_t, 9> batch_pairs_{};
  std::array<uint64_t, 15> call_us_{};
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> counters_ = {{"calls_total", 0}, {"calls_failed_total", 0}, {"pairs_total", 0}};
  double typical_run_us_ = 0;
};

}  // namespace ranking::trtmc
