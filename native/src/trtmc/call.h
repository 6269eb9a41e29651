// Calls through the ABI: status and error detail become one exception, and no error detail outlives the call.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "trtmc/abi.h"

namespace ranking::trtmc {

// "INVALID_ARGUMENT" and so on; "status 42" for a value that version 1.0 does not have.
std::string status_name(abi::Status status);

// A call that did not return OK. what() names call, status and detail; detail() is the runtime's own message, empty if it gave
// none.
class CallError : public std::runtime_error {
 public:
  CallError(std::string_view call, abi::Status status, std::string detail);
  abi::Status status() const { return status_; }
  const std::string& detail() const { return detail_; }

 private:
  abi::Status status_;
  std::string detail_;
};

// Takes the detail over. Throws CallError unless status is OK, whether or not there is a detail.
void settle(const abi::CoreApi& core, std::string_view name, abi::Status status, abi::Error* detail);

// Makes one call: `invoke` gets the place for the error detail and returns the status. Throws CallError unless that is OK.
template <typename Invoke>
void call(const abi::CoreApi& core, std::string_view name, Invoke invoke) {
  abi::Error* detail = nullptr;
  const abi::Status status = invoke(&detail);
  settle(core, name, status, detail);
}

inline std::string_view text(abi::StringView view) {
  return view.size == 0 ? std::string_view{} : std::string_view{view.data, view.size};
}
inline abi::StringView view(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace ranking::trtmc
