#include "trtmc/outcome.h"

#include <new>

namespace ranking::trtmc {

ErrorCode code_of(abi::Status status) {
  switch (status) {
    case abi::Status::kInvalidArgument:
    case abi::Status::kInvalidConfig:
    case abi::Status::kUnsupported: return ErrorCode::kBackendRejectedRequest;
    case abi::Status::kBusy:
    case abi::Status::kAgain: return ErrorCode::kServerBusy;
    case abi::Status::kOutOfMemory: return ErrorCode::kBackendUnavailable;
    case abi::Status::kOk:
    case abi::Status::kEnd:
    case abi::Status::kVersionMismatch:
    case abi::Status::kInternalError: return ErrorCode::kBackendFailed;
  }
  return ErrorCode::kBackendFailed;
}

RankError run_error(const CallError& failure) {
  RankError error;
  error.code = code_of(failure.status());
  const std::string status = status_name(failure.status());
  error.foreign = !failure.detail().empty();
  error.message = failure.detail().empty() ? "the model answered " + status : status + ": " + failure.detail();
  return error;
}

RankError run_error(const std::exception& failure) {
  RankError error;
  error.code = dynamic_cast<const std::bad_alloc*>(&failure) ? ErrorCode::kBackendUnavailable : ErrorCode::kBackendFailed;
  error.message = failure.what();
  return error;
}

}  // namespace ranking::trtmc
