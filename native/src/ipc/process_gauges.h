// What this process uses, for the gauges of a pong.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ranking::ipc {

// resident_bytes, threads and open_fds, read from /proc; one that cannot be read is left out.
std::map<std::string, uint64_t> process_gauges();

}  // namespace ranking::ipc
