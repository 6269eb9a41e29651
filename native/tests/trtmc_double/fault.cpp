#include "fault.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "objects.h"

namespace trtmc_double {
namespace {

constexpr std::string_view kPrefix = "double:";

std::mutex gate_mutex;
std::condition_variable gate_moved;
bool gate_open = true;

void wait_at_gate() {
  std::unique_lock lock(gate_mutex);
  gate_moved.wait(lock, [] { return gate_open; });
}

}  // namespace

Fault read_fault(std::string_view text) {
  if (!text.starts_with(kPrefix)) return {};
  text.remove_prefix(kPrefix.size());
  text = text.substr(0, text.find(' '));
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return {std::string(text), 0};
  return {std::string(text.substr(0, equals)), std::atoll(std::string(text.substr(equals + 1)).c_str())};
}

void strike(const Fault& fault) {
  const auto status = static_cast<trtmc_status>(fault.number);
  if (fault.is("status")) throw Failure{status, "the double was told to fail with status " + std::to_string(status)};
  if (fault.is("silent")) throw Failure{status, "", true};
  if (fault.is("binary")) throw Failure{TRTMC_INVALID_ARGUMENT, "caf\xe9 \xff\xfe"};
  if (fault.is("sleep")) std::this_thread::sleep_for(std::chrono::milliseconds(fault.number));
  if (fault.is("gate")) wait_at_gate();
  if (fault.is("crash")) std::abort();
}

void open_gate(bool open) {
  const std::lock_guard lock(gate_mutex);
  gate_open = open;
  gate_moved.notify_all();
}

}  // namespace trtmc_double
