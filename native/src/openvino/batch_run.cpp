#include "openvino/batch_run.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "log/log.h"

namespace ranking::openvino {

BatchResult BatchRun::run(Batch batch) {
  BatchResult result{.stream = stream_, .batch = std::move(batch), .scores = {}, .errors = {}, .start = Clock::now(), .end = {}};
  const auto& rows = result.batch.rows;
  result.scores.resize(rows.size());
  result.errors.resize(rows.size());
  attempt(result, 0, rows.size());
  if (result.errors.front() && rows.front().job != rows.back().job) score_apart(result);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!result.errors[i] && !std::isfinite(result.scores[i])) {
      result.errors[i] = RankError{.code = ErrorCode::kBackendFailed, .message = "the model gave a score that is not finite"};
    }
  }
  result.end = Clock::now();
  return result;
}

// Rows of one request stand together.
void BatchRun::score_apart(BatchResult& result) {
  const auto& rows = result.batch.rows;
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].job == rows[begin].job) ++end;
    attempt(result, begin, end);
  }
}

// Rows begin to end in one call; all of them get the error if it fails, none otherwise.
void BatchRun::attempt(BatchResult& result, size_t begin, size_t end) {
  std::optional<RankError> error;
  try {
    score(std::span(result.batch.rows).subspan(begin, end - begin), result.batch.length,
          std::span(result.scores).subspan(begin, end - begin));
  } catch (const std::bad_alloc&) {
    error = RankError{.code = ErrorCode::kBackendUnavailable, .message = "out of memory while scoring"};
    log::error("out of memory in a batch", {{"rows", end - begin}, {"length", result.batch.length}});
  } catch (const std::exception& e) {
    error = RankError{.code = ErrorCode::kBackendFailed, .message = "the model failed"};
    log::error("a batch failed", {{"rows", end - begin}, {"length", result.batch.length}, {"error", e.what()}});
  }
  std::fill(result.errors.begin() + static_cast<ptrdiff_t>(begin), result.errors.begin() + static_cast<ptrdiff_t>(end), error);
}

void BatchRun::score(std::span<const Row> rows, size_t length, std::span<float> scores) {
  const auto size = rows.size() * length;
  ids_.assign(size, pad_id_);
  mask_.assign(size, 0);
  type_ids_.assign(size, 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& pair = rows[i].tokens();
    const auto at = static_cast<ptrdiff_t>(i * length);
    std::copy(pair.ids.begin(), pair.ids.end(), ids_.begin() + at);
    std::copy(pair.type_ids.begin(), pair.type_ids.end(), type_ids_.begin() + at);
    std::fill_n(mask_.begin() + at, pair.ids.size(), 1);
  }
  engine_.score(stream_, {rows.size(), length, ids_, mask_, type_ids_}, scores);
}

}  // namespace ranking::openvino
