// Serves a TRTMC bundle through its C ABI: README.md beside this file says how to run it and what has not been run.
#pragma once

#include <memory>

#include "task/task.h"
#include "trtmc/options.h"

namespace ranking {

// Loads options.replicas models and warms each up; logs what the runtime says of them. Throws std::exception with a message for
// the operator: no runtime, not a bundle, not a reranker, a setting that the family does not have, ...
std::unique_ptr<Task> make_trtmc_task(const TrtmcOptions& options);

}  // namespace ranking
