// The processor this runs on.
#pragma once

#include <string>

namespace ranking::openvino {

// Cores that this process may use (its affinity mask), at least 1.
unsigned usable_cores();

// The best instruction set for a cross-encoder's kernels that processor and system offer, such as amx_int8, avx512_vnni or avx2.
std::string best_isa();

}  // namespace ranking::openvino
