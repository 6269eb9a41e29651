// What the double sees of its caller, and the gate that runs with the fault `gate` wait at. Exported beside the ABI's entry, for
// tests that hold the library open.
#pragma once

#include <stdint.h>

extern "C" {

struct trtmc_double_figures {
  int64_t models, results, errors;  // alive
  uint64_t runs;
  uint64_t overlaps;  // runs that began on a model while another was under way there
};

__attribute__((visibility("default"))) trtmc_double_figures trtmc_double_watch(void);

// Closed: such runs wait until it opens. Open at first.
__attribute__((visibility("default"))) void trtmc_double_gate(bool open);

using trtmc_double_gate_fn = void (*)(bool);
using trtmc_double_watch_fn = trtmc_double_figures (*)();
}
