#include "openvino/cpu.h"

#include <sched.h>

#include <algorithm>

namespace ranking::openvino {

unsigned usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

std::string best_isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("amx-int8")) return "amx_int8";
  if (__builtin_cpu_supports("avx512vnni")) return "avx512_vnni";
  if (__builtin_cpu_supports("avx512bw")) return "avx512";
  if (__builtin_cpu_supports("avxvnni")) return "avx2_vnni";
  if (__builtin_cpu_supports("avx2")) return "avx2";
  return "sse";
#elif defined(__aarch64__)
  return "neon";
#else
  return "unknown";
#endif
}

}  // namespace ranking::openvino
