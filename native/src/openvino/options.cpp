#include "openvino/options.h"

#include <CLI/CLI.hpp>
#include <openvino/core/version.hpp>

namespace ranking {

void add_openvino_options(CLI::App& app, OpenvinoOptions& options) {
  const auto group = app.add_option_group("Task openvino", "a cross-encoder on the CPU");
  group->add_option("--model", options.model, "model directory: model.xml and .bin or model.onnx, tokenizer.json, card.json");
  group->add_option("--streams", options.streams, "batches computed at once; 0: one per core")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  group->add_option("--threads", options.threads, "threads of each stream")->check(CLI::Range(1, 256))->capture_default_str();
  group->add_option("--tokenizer-threads", options.tokenizer_threads, "0: one per stream")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  group
      ->add_option("--batch-tokens", options.batch_tokens,
                   "tokens of one batch, padding included; a longer pair makes its own batch")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str();
  group->add_option("--queue-tokens", options.queue_tokens, "tokens that may wait; past this a request is refused as server_busy")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->capture_default_str();
  group->add_option("--max-passages", options.max_passages, "passages accepted in one request")
      ->check(CLI::Range(1, 16384))
      ->capture_default_str();
  group
      ->add_option("--shape-cache", options.shape_cache,
                   "compiled kernels kept by each stream: more memory, fewer compiled again")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

std::string openvino_versions() {
  const auto version = ov::get_openvino_version();
  return std::string("OpenVINO ") + version.buildNumber;
}

}  // namespace ranking
