#include "openvino/answer.h"

namespace ranking::openvino {
namespace {

uint64_t microseconds(Clock::duration time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

RankScores answer_of(const Job& job) {
  RankScores answer;
  TokenCounts tokens;
  tokens.padding = job.padding;
  answer.scores.reserve(job.pair_of.size());
  tokens.per_pair.reserve(job.pair_of.size());
  for (const auto index : job.pair_of) {
    const auto& pair = job.pairs[index];
    answer.scores.push_back(job.scores[index]);
    tokens.per_pair.push_back(static_cast<uint32_t>(pair.ids.size()));
    tokens.truncated += pair.cut ? 1 : 0;
  }
  answer.tokens = std::move(tokens);
  answer.timing = {.queue_us = microseconds(job.first_start - job.arrived),
                   .tokenize_us = microseconds(job.tokenizing),
                   .public_task_call_wall_us = microseconds(job.last_end - job.first_start),
                   .batches = job.batches};
  return answer;
}

}  // namespace ranking::openvino
