// The one clock of the Task process: monotonic, so that a change of the wall clock moves no timing and no deadline.
#pragma once

#include <chrono>

namespace ranking {

using Clock = std::chrono::steady_clock;

}  // namespace ranking
