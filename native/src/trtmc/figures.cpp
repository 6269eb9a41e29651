#include "trtmc/figures.h"

#include "task/histogram.h"

namespace ranking::trtmc {

void Figures::count_run(size_t documents, Clock::duration took, bool ok) {
  const auto us = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  const std::lock_guard lock(mutex_);
  observe(batch_pairs_, kBatchPairs, documents);
  observe(call_us_, kCallUs, us);
  counters_["calls_total"] += 1;
  counters_["calls_failed_total"] += !ok;
  counters_["pairs_total"] += documents;
  typical_run_us_ += (static_cast<double>(us) - typical_run_us_) * (typical_run_us_ == 0 ? 1.0 : 0.125);
}

Clock::duration Figures::typical_run() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::microseconds(static_cast<int64_t>(typical_run_us_));
}

void Figures::report(TaskHealth& health) const {
  const std::lock_guard lock(mutex_);
  health.counters.insert(counters_.begin(), counters_.end());
  health.histograms["batch_pairs"] = cumulative(batch_pairs_);
  health.histograms["call_us"] = cumulative(call_us_);
}

}  // namespace ranking::trtmc
