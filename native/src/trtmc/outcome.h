// What a failed run means to the client: the one table from the runtime's status to a code of ipc/PROTOCOL.md.
#pragma once

#include <exception>

#include "task/task.h"
#include "trtmc/call.h"

namespace ranking::trtmc {

// | status                                       | code                     |
// | INVALID_ARGUMENT, INVALID_CONFIG, UNSUPPORTED | backend_rejected_request |
// | BUSY, AGAIN                                   | server_busy              |
// | OUT_OF_MEMORY                                 | backend_unavailable      |
// | INTERNAL_ERROR, VERSION_MISMATCH, END, others | backend_failed           |
ErrorCode code_of(abi::Status status);

// The error to answer with, in the family's own words where there are any.
RankError run_error(const CallError& failure);

// A run that returned something that is no answer, or that broke down in this process.
RankError run_error(const std::exception& failure);

}  // namespace ranking::trtmc
