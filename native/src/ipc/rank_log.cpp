#include "ipc/rank_log.h"

#include <algorithm>
#include <string_view>

#include "log/log.h"

namespace ranking::ipc {
namespace {

// To the microsecond.
double milliseconds_since(Clock::time_point start) {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count()) / 1000.0;
}

// The W3C header if it has its shape, else null: any other bytes of a client stay out of the log.
nlohmann::ordered_json loggable(std::string_view traceparent) {
  const auto allowed = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-'; };
  if (traceparent.size() != 55 || !std::all_of(traceparent.begin(), traceparent.end(), allowed)) return nullptr;
  return traceparent;
}

nlohmann::ordered_json loggable(const RankError& error) {
  if (error.foreign || error.code == ErrorCode::kBackendRejectedRequest) return nullptr;
  return error.message;
}

void log_error(const OpenRank& rank, const RankError& error) {
  const auto write = error.code == ErrorCode::kCancelled ? log::info : log::warn;
  write("rank failed", {{"request_id", rank.id},
                        {"code", code_name(error.code)},
                        {"error", loggable(error)},
                        {"passages", rank.passages},
                        {"ms", milliseconds_since(rank.arrival)},
                        {"traceparent", loggable(rank.traceparent)}});
}

void log_scores(const OpenRank& rank, const RankScores& scores) {
  log::debug("rank", {{"request_id", rank.id},
                      {"passages", rank.passages},
                      {"ms", milliseconds_since(rank.arrival)},
                      {"queue_us", scores.timing.queue_us},
                      {"public_task_call_wall_us", scores.timing.public_task_call_wall_us},
                      {"batches", scores.timing.batches},
                      {"traceparent", loggable(rank.traceparent)}});
}

}  // namespace

void log_answer(const OpenRank& rank, const RankOutcome& outcome) {
  if (const auto* error = std::get_if<RankError>(&outcome)) {
    log_error(rank, *error);
  } else if (log::debug_enabled()) {
    log_scores(rank, std::get<RankScores>(outcome));
  }
}

}  // namespace ranking::ipc
