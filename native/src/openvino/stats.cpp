#include "openvino/stats.h"

#include <algorithm>

#include "task/histogram.h"

namespace ranking::openvino {

Stats::Stats(unsigned streams) : streams_(streams) {
  for (const auto* name :
       {"calls_total", "calls_failed_total", "pairs_total", "tokens_total", "padding_tokens_total", "truncated_pairs_total"}) {
    counters_[name] = 0;
  }
}

void Stats::count_batch(const BatchResult& result, Clock::duration occupied) {
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
  constexpr double kKept = 0.95;
  recent_tokens_ = kKept * recent_tokens_ + static_cast<double>(tokens);
  recent_seconds_ = kKept * recent_seconds_ + std::chrono::duration<double>(occupied).count();
}

void Stats::report(TaskHealth& health) const {
  health.counters = counters_;
  health.histograms = {
      {"batch_pairs", cumulative(batch_pairs_)}, {"batch_tokens", cumulative(batch_tokens_)}, {"call_us", cumulative(call_us_)}};
}

}  // namespace ranking::openvino
