#include "trtmc/call.h"

#include <array>

#include "trtmc/handles.h"

namespace ranking::trtmc {
namespace {

constexpr std::array kStatusNames = {
    "OK",    "END",  "INVALID_ARGUMENT", "INVALID_CONFIG", "UNSUPPORTED", "VERSION_MISMATCH", "OUT_OF_MEMORY", "INTERNAL_ERROR",
    "AGAIN", "BUSY",
};

std::string describe(std::string_view call, abi::Status status, const std::string& detail) {
  return std::string(call) + ": " + status_name(status) + (detail.empty() ? " (the runtime gave no detail)" : ": " + detail);
}

}  // namespace

std::string status_name(abi::Status status) {
  const auto value = static_cast<int32_t>(status);
  const bool known = value >= 0 && value < static_cast<int32_t>(kStatusNames.size());
  return known ? kStatusNames[static_cast<size_t>(value)] : "status " + std::to_string(value);
}

CallError::CallError(std::string_view call, abi::Status status, std::string detail)
    : std::runtime_error(describe(call, status, detail)), status_(status), detail_(std::move(detail)) {}

void settle(const abi::CoreApi& core, std::string_view name, abi::Status status, abi::Error* detail) {
  const ErrorHandle owner(detail, core.error_release);
  if (status == abi::Status::kOk) return;
  throw CallError(name, status, owner ? std::string(text(core.error_message(owner.get()))) : std::string());
}

}  // namespace ranking::trtmc
