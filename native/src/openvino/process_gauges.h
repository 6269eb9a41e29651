// What the kernel knows of this process.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ranking::openvino {

// resident_bytes, threads, open_fds; those that cannot be read are left out.
void add_process_gauges(std::map<std::string, uint64_t>& gauges);

}  // namespace ranking::openvino
