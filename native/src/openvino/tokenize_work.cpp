#include "openvino/tokenize_work.h"

#include <algorithm>
#include <new>
#include <string>
#include <unordered_map>

namespace ranking::openvino {
namespace {

// A slice holds at most this many passages and ends with the passage that exceeds so many bytes: a millisecond or a few.
constexpr size_t kSlicePassages = 16;
constexpr size_t kSliceBytes = 16 << 10;

}  // namespace

bool TokenizeWork::claimable() const {
  switch (phase_) {
    case Phase::kPrepare:
    case Phase::kCount: return running_ == 0;
    case Phase::kEncode: return next_ < passage_of_.size();
    case Phase::kDone: break;
  }
  return false;
}

TokenizeWork::Slice TokenizeWork::claim() {
  ++running_;
  if (!started_) started_ = Clock::now();
  if (phase_ == Phase::kPrepare) return {Slice::Kind::kPrepare};
  if (phase_ == Phase::kCount) return {Slice::Kind::kCount};
  Slice slice{Slice::Kind::kEncode, next_, next_};
  for (size_t bytes = 0; slice.end < passage_of_.size() && slice.end - slice.begin < kSlicePassages && bytes < kSliceBytes;
       ++slice.end) {
    bytes += job_->request.passages[passage_of_[slice.end]].size();
  }
  next_ = slice.end;
  return slice;
}

// Slices of pairs run on several threads at once; each writes its own pairs only.
std::optional<RankError> TokenizeWork::run(const Slice& slice) try {
  if (job_->abandoned) return std::nullopt;
  if (slice.kind == Slice::Kind::kPrepare) prepare();
  if (slice.kind == Slice::Kind::kCount) return count();
  for (size_t i = slice.begin; i < slice.end && !job_->abandoned; ++i) encode(i);
  return std::nullopt;
} catch (const std::bad_alloc&) {
  return RankError{.code = ErrorCode::kBackendUnavailable, .message = "out of memory while tokenizing"};
} catch (const std::exception& e) {
  return RankError{.code = ErrorCode::kBackendRejectedRequest, .message = e.what()};
}

void TokenizeWork::release(const Slice& slice, std::optional<RankError> error) {
  --running_;
  if (error && !job_->error) job_->error = std::move(error);
  if (job_->abandoned || job_->error) {
    phase_ = Phase::kDone;
  } else if (slice.kind == Slice::Kind::kPrepare) {
    phase_ = Phase::kEncode;
  } else if (slice.kind == Slice::Kind::kEncode && running_ == 0 && next_ == passage_of_.size()) {
    settle();
  }
  if (finished()) job_->tokenizing = Clock::now() - *started_;
}

void TokenizeWork::prepare() {
  const auto& passages = job_->request.passages;
  std::unordered_map<std::string_view, uint32_t> seen;
  seen.reserve(passages.size());
  job_->pair_of.reserve(passages.size());
  for (uint32_t i = 0; i < passages.size(); ++i) {
    const auto [place, is_new] = seen.try_emplace(passages[i], static_cast<uint32_t>(passage_of_.size()));
    if (is_new) passage_of_.push_back(i);
    job_->pair_of.push_back(place->second);
  }
  job_->pairs.resize(passage_of_.size());
  query_ = tokenizer_.encode_query(job_->request.query, job_->request.truncate);
}

void TokenizeWork::encode(size_t index) {
  const auto& request = job_->request;
  job_->pairs[index] = tokenizer_.encode_pair(query_, request.passages[passage_of_[index]], request.truncate, passage_limit());
}

// One piece of the query or, behind it, of the first passage that is too long; the error when both are counted.
std::optional<RankError> TokenizeWork::count() {
  const std::string_view query = job_->request.query;
  const std::string_view passage = job_->request.passages[passage_of_[counted_pair_]];
  if (query_offset_ < query.size()) {
    query_tokens_ += tokenizer_.count_piece(query, query_offset_);
  } else if (passage_offset_ < passage.size()) {
    passage_tokens_ += tokenizer_.count_piece(passage, passage_offset_);
  }
  if (query_offset_ < query.size() || passage_offset_ < passage.size()) return std::nullopt;
  const auto own = passage_limit() > 0 ? std::min<uint64_t>(passage_tokens_, passage_limit()) : passage_tokens_;
  return too_long(tokenizer_.special_tokens() + query_tokens_ + own);
}

// All pairs are encoded. Pairs are in the order of their first passages, so the first pair at fault has the first passage at
// fault.
void TokenizeWork::settle() {
  const auto& pairs = job_->pairs;
  const auto found = std::find_if(pairs.begin(), pairs.end(), [](const Pair& p) { return p.too_long; });
  counted_pair_ = static_cast<size_t>(found - pairs.begin());
  phase_ = found == pairs.end() ? Phase::kDone : Phase::kCount;
}

RankError TokenizeWork::too_long(uint64_t tokens) const {
  const auto& pairs = job_->pairs;
  const auto offending = std::count_if(job_->pair_of.begin(), job_->pair_of.end(), [&](uint32_t i) { return pairs[i].too_long; });
  const auto passage = passage_of_[counted_pair_];
  const auto limit = tokenizer_.max_tokens();
  return {.code = ErrorCode::kInputTooLong,
          .message = "passage " + std::to_string(passage) + " and the query have " + std::to_string(tokens) +
                     " tokens, the limit is " + std::to_string(limit) + "; " + std::to_string(offending) + " of " +
                     std::to_string(job_->pair_of.size()) + " passages are over it",
          .passage = passage,
          .tokens = static_cast<uint32_t>(tokens),
          .max_tokens = limit,
          .offending = static_cast<uint32_t>(offending),
          .retry_after_ms = std::nullopt};
}

}  // namespace ranking::openvino
