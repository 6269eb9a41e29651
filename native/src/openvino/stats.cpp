#include "openvino/stats.h"

#include <algorithm>
#include <vector>

namespace ranking::openvino {
namespace {

constexpr std::array<uint64_t, 8> kBatchPairs = {1, 2, 4, 8, 16, 32, 64, 128};
constexpr std::array<uint64_t, 9> kBatchTokens = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
constexpr std::array<uint64_t, 14> kCallUs = {100,   250,   500,    1000,   2500,   5000,    10000,
                                              25000, 50000, 100000, 250000, 500000, 1000000, 2500000};

template <size_t kBounds>
void observe(std::array<uint64_t, kBounds + 1>& counts, const std::array<uint64_t, kBounds>& bounds, uint64_t value) {
  ++counts[static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin())];
}

template <size_t kCounts>
std::vector<uint64_t> cumulative(const std::array<uint64_t, kCounts>& counts) {
  std::vector<uint64_t> sums;
  uint64_t sum = 0;
  for (const auto count : counts) sums.push_back(sum += count);
  return sums;
}

}  // namespace

Stats::Stats(unsigned streams) : streams_(streams) {
  for (const auto* name :
       {"calls_total", "calls_failed_total", "pairs_total", "tokens_total", "padding_tokens_total", "truncated_pairs_total"}) {
    counters_[name] = 0;
  }
}

void Stats::count_batch(const BatchResult& result) {
  const auto& [length, rows] = result.batch;
  uint64_t tokens = 0;
  uint64_t cut = 0;
  for (const auto& row : rows) {
    tokens += row.tokens().ids.size();
    cut += row.tokens().cut;
  }
  const bool failed =
      std::any_of(result.errors.begin(), result.errors.end(), [](const auto& error) { return error.has_value(); });
  const auto computed = rows.size() * length;
  const auto took = std::chrono::duration<double>(result.end - result.start).count();
  ++counters_["calls_total"];
  counters_["calls_failed_total"] += failed;
  counters_["pairs_total"] += rows.size();
  counters_["tokens_total"] += tokens;
  counters_["padding_tokens_total"] += computed - tokens;
  counters_["truncated_pairs_total"] += cut;
  observe(batch_pairs_, kBatchPairs, rows.size());
  observe(batch_tokens_, kBatchTokens, computed);
  observe(call_us_, kCallUs, static_cast<uint64_t>(took * 1e6));
  const auto now = static_cast<double>(computed) / std::max(took, 1e-6) * streams_;
  constexpr double kWeight = 0.05;  // of the newest batch: remembers about twenty
  tokens_per_second_ = tokens_per_second_ == 0 ? now : (1 - kWeight) * tokens_per_second_ + kWeight * now;
}

void Stats::report(TaskHealth& health) const {
  health.counters = counters_;
  health.histograms = {
      {"batch_pairs", cumulative(batch_pairs_)}, {"batch_tokens", cumulative(batch_tokens_)}, {"call_us", cumulative(call_us_)}};
}

}  // namespace ranking::openvino
