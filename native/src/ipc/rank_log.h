// The log line of an answered rank: one for each that failed, a debug line for each that succeeded. No text of query or passages.
#pragma once

#include "ipc/answers.h"

namespace ranking::ipc {

void log_answer(const OpenRank& rank, const RankOutcome& outcome);

}  // namespace ranking::ipc
