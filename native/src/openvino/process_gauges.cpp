#include "openvino/process_gauges.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace ranking::openvino {

void add_process_gauges(std::map<std::string, uint64_t>& gauges) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) gauges["resident_bytes"] = std::stoull(line.substr(6)) * 1024;
    if (line.starts_with("Threads:")) gauges["threads"] = std::stoull(line.substr(8));
  }
  std::error_code error;
  const std::filesystem::directory_iterator fds("/proc/self/fd", error);
  if (!error) gauges["open_fds"] = static_cast<uint64_t>(std::distance(begin(fds), end(fds)));
}

}  // namespace ranking::openvino
