// One request in the tokenizing stage, cut into slices that several threads may take at once.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "openvino/job.h"
#include "openvino/tokenizer.h"

namespace ranking::openvino {

class TokenizeWork {
 public:
  struct Slice {
    enum class Kind { kPrepare, kEncode, kCount } kind;
    size_t begin = 0;  // of the pairs to encode
    size_t end = 0;
  };

  TokenizeWork(const Tokenizer& tokenizer, JobPtr job)
      : tokenizer_(tokenizer), job_(std::move(job)), query_(nullptr, ranking_query_free) {}

  // Call claim() and release() under one lock, run() without it. Each claimed slice is run once and then released.
  bool claimable() const;
  Slice claim();
  std::optional<RankError> run(const Slice& slice);
  void release(const Slice& slice, std::optional<RankError> error);

  // No slice is left, claimed or not: pairs or error of the job are set.
  bool finished() const { return phase_ == Phase::kDone && running_ == 0; }
  const JobPtr& job() const { return job_; }

 private:
  enum class Phase { kPrepare, kEncode, kCount, kDone };

  void prepare();
  void encode(size_t index);
  std::optional<RankError> count();
  void settle();
  RankError too_long(uint64_t tokens) const;
  uint32_t passage_limit() const { return job_->request.max_passage_tokens.value_or(0); }

  const Tokenizer& tokenizer_;
  const JobPtr job_;
  Tokenizer::Query query_;
  std::vector<uint32_t> passage_of_;  // of each pair: the first passage with its text
  Phase phase_ = Phase::kPrepare;
  size_t next_ = 0;     // pair to claim
  size_t running_ = 0;  // slices claimed and not released
  std::optional<Clock::time_point> started_;

  // Counting of the first pair that is too long: its query, then its passage.
  size_t counted_pair_ = 0;
  size_t query_offset_ = 0;
  size_t passage_offset_ = 0;
  uint64_t query_tokens_ = 0;
  uint64_t passage_tokens_ = 0;
};

}  // namespace ranking::openvino
