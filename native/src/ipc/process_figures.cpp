#include "ipc/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
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
  const std::unique_ptr<FILE, int (*)(FILE*)> statm(std::fopen("/proc/self/statm", "re"), std::fclose);
  unsigned long resident = 0;
  if (!statm || std::fscanf(statm.get(), "%*u %lu", &resident) != 1) return 0;
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

std::map<std::string, uint64_t> process_counters() {
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) != 0) return {};
  const auto microseconds = [](const timeval& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000 + static_cast<uint64_t>(t.tv_usec);
  };
  return {{"cpu_us_total", microseconds(used.ru_utime) + microseconds(used.ru_stime)}};
}

}  // namespace ranking::ipc
