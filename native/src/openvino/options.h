// Flags of `--task openvino`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace CLI {
class App;
}

namespace ranking {

struct OpenvinoOptions {
  std::filesystem::path model;        // the model directory
  uint32_t streams = 0;               // batches computed at once; 0: one per core that this process may use
  uint32_t threads = 1;               // of each stream
  uint32_t tokenizer_threads = 0;     // 0: one per stream
  uint32_t batch_tokens = 256;        // of one batch, padding included; a longer pair makes a batch of its own
  uint64_t queue_tokens = 524288;     // accepted and not yet started
  double queue_seconds = 30;          // to the answer of a new request, at the speed of late
  uint32_t max_passages = 512;        // of one request, at most 16384
  bool background_inference = false;  // inference threads give way to every other
  uint32_t shape_cache = 300;         // compiled kernels kept by each stream
};

void add_openvino_options(CLI::App& app, OpenvinoOptions& options);

// "OpenVINO <version>".
std::string openvino_version();

// The same and, on a line of its own, "tokenizers <version>".
std::string openvino_versions();

}  // namespace ranking
