// The histograms of a pong: their bounds are those of ipc/PROTOCOL.md, section 9.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ranking {

inline constexpr std::array<uint64_t, 8> kBatchPairs = {1, 2, 4, 8, 16, 32, 64, 128};
inline constexpr std::array<uint64_t, 9> kBatchTokens = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
inline constexpr std::array<uint64_t, 14> kCallUs = {100,   250,   500,    1000,   2500,   5000,    10000,
                                                     25000, 50000, 100000, 250000, 500000, 1000000, 2500000};

// Counts per bucket, the last one for what is above all bounds.
template <size_t kBounds>
void observe(std::array<uint64_t, kBounds + 1>& counts, const std::array<uint64_t, kBounds>& bounds, uint64_t value) {
  ++counts[static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin())];
}

// As a pong carries them.
template <size_t kCounts>
std::vector<uint64_t> cumulative(const std::array<uint64_t, kCounts>& counts) {
  std::vector<uint64_t> sums(kCounts);
  std::partial_sum(counts.begin(), counts.end(), sums.begin());
  return sums;
}

}  // namespace ranking
