#include "ipc/rank_log.h"

#include <algorithm>
#include <string_view>

#include "log/log.h"

namespace ranking::ipc {
namespace {

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The W3C header if it has its shape, else nothing: any other bytes of a client stay out of the log.
std::string_view loggable(std::string_view traceparent) {
  const auto allowed = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-'; };
  const bool good = traceparent.size() == 55 && std::all_of(traceparent.begin(), traceparent.end(), allowed);
  return good ? traceparent : std::string_view();
}

// A refusal by the model's own code may quote the input.
std::string_view loggable(const RankError& error) {
  return error.code == ErrorCode::kBackendRejectedRequest ? std::string_view() : std::string_view(error.message);
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
