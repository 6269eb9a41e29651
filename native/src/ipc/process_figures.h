// What this process uses, for the figures of a pong.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ranking::ipc {

// resident_bytes, threads and open_fds, read from /proc; one that cannot be read is left out.
std::map<std::string, uint64_t> process_gauges();

// cpu_us_total: processor time of all threads, user and system, since the start.
std::map<std::string, uint64_t> process_counters();

}  // namespace ranking::ipc
