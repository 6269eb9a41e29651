// What a fuzz target holds against the code under test.
#pragma once

#include <cstdlib>

inline void require(bool truth) {
  if (!truth) std::abort();
}
