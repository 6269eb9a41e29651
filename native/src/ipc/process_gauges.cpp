#include "ipc/process_gauges.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace ranking::ipc {
namespace {

// The number of entries; those of /proc/self/fd include the one that reads the folder.
uint64_t count_entries(const char* folder) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  return error ? 0 : static_cast<uint64_t>(std::distance(begin(entries), end(entries)));
}

uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::map<std::string, uint64_t> process_gauges() {
  std::map<std::string, uint64_t> gauges;
  if (const uint64_t bytes = resident_bytes()) gauges["resident_bytes"] = bytes;
  if (const uint64_t threads = count_entries("/proc/self/task")) gauges["threads"] = threads;
  if (const uint64_t fds = count_entries("/proc/self/fd")) gauges["open_fds"] = fds - 1;
  return gauges;
}

}  // namespace ranking::ipc
