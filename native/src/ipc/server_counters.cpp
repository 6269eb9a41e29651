#include "ipc/messages.h"
#include "ipc/server_state.h"

namespace ranking::ipc {

void ServerCounters::count_answer(const RankOutcome& outcome) {
  const auto* error = std::get_if<RankError>(&outcome);
  (error == nullptr ? ranks_ok : ranks_failed[static_cast<size_t>(error->code)]) += 1;
}

void ServerCounters::add_to(std::map<std::string, uint64_t>& counters) const {
  counters["connections_total"] = connections;
  counters["connections_refused_total"] = connections_refused;
  counters["accept_errors_total"] = accept_errors;
  counters["protocol_errors_total"] = protocol_errors;
  counters["slow_readers_total"] = slow_readers;
  counters["ranks_total"] = ranks;
  counters["ranks_ok_total"] = ranks_ok;
  counters["answers_unsent_total"] = answers_unsent;
  // The codes from kProtocolError on end a connection and answer no rank.
  for (size_t i = 0; i < static_cast<size_t>(ErrorCode::kProtocolError); ++i) {
    counters["ranks_" + std::string(code_name(static_cast<ErrorCode>(i))) + "_total"] = ranks_failed[i];
  }
}

}  // namespace ranking::ipc
