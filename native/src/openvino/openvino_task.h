// The openvino Task: a cross-encoder directory on the CPU.
#pragma once

#include <memory>

#include "openvino/options.h"
#include "task/task.h"

namespace ranking {

// Loads, warms up and returns a ready Task. Throws std::exception with a message for the operator.
std::unique_ptr<Task> make_openvino_task(const OpenvinoOptions& options);

}  // namespace ranking
