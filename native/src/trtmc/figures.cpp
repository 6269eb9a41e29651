#include "trtmc/figures.h"

#include <algorithm>

namespace ranking::trtmc {
namespace {

constexpr std::array<uint64_t, 8> kPairBounds = {1, 2, 4, 8, 16, 32, 64, 128};
constexpr std::array<uint64_t, 14> kCallBounds = {100,   250,   500,    1000,   2500,   5000,    10000,
                                                  25000, 50000, 100000, 250000, 500000, 1000000, 2500000};

template <size_t N>
size_t bucket(const std::array<uint64_t, N>& bounds, uint64_t value) {
  return static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin());
}

template <size_t N>
std::vector<uint64_t> cumulative(const std::array<uint64_t, N>& counts) {
  std::vector<uint64_t> sums;
  uint64_t sum = 0;
  for (const auto count : counts) sums.push_back(sum += count);
  return sums;
}

}  // namespace

void Figures::count_run(size_t documents, Clock::duration took, bool ok) {
  const auto us = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  const std::lock_guard lock(mutex_);
  ++batch_pairs_[bucket(kPairBounds, documents)];
  ++call_us_[bucket(kCallBounds, us)];
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
