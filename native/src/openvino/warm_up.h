// Computes every shape of batch once before the Task is ready, so that no request pays for compiling kernels.
#pragma once

#include <chrono>
#include <cstddef>

#include "openvino/engine.h"

namespace ranking::openvino {

// All streams at once; the rows of one length first, then more. Stops after `limit`, whatever is left. Returns the shapes
// computed by the slowest stream. Throws what the engine throws, and std::runtime_error if a score is not finite.
size_t warm_up(Engine& engine, size_t max_length, size_t batch_tokens, std::chrono::milliseconds limit);

}  // namespace ranking::openvino
