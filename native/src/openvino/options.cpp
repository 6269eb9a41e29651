#include "openvino/options.h"

#include <CLI/CLI.hpp>
#include <openvino/core/version.hpp>

#include "ipc/protocol.h"
#include "ranking_tokenizer.h"

namespace ranking {

void add_openvino_options(CLI::App& app, OpenvinoOptions& options) {
  constexpr const char* group = "openvino Task (a cross-encoder on the CPU)";
  const auto add = [&](const char* flag, auto& value, const char* what) {
    return app.add_option(flag, value, what)->capture_default_str()->group(group);
  };
  app.add_option("--model", options.model, "Model directory: model.xml and .bin or model.onnx, tokenizer.json, card.json")
      ->group(group);
  add("--streams", options.streams, "Batches computed at once; 0: one per core")->check(CLI::Range(0, 256));
  add("--threads", options.threads, "Threads of each stream")->check(CLI::Range(1, 256));
  add("--tokenizer-threads", options.tokenizer_threads, "Threads that tokenize; 0: one per stream")->check(CLI::Range(0, 256));
  add("--batch-tokens", options.batch_tokens, "Tokens of one batch, padding included; a longer pair makes its own batch")
      ->check(CLI::Range(16, 1 << 20));
  add("--queue-tokens", options.queue_tokens, "Tokens that may wait; past this a rank is refused as server_busy")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  add("--queue-seconds", options.queue_seconds,
      "Time to the answer, at the speed of late; a rank that would take longer is refused as server_busy; 0: any")
      ->check(CLI::Range(0.0, 1e6));
  app.add_flag("--background-inference", options.background_inference,
               "Compute only on cores that nothing else wants (SCHED_IDLE), where other work comes in short bursts")
      ->envname("RANKING_TASK_BACKGROUND_INFERENCE")
      ->group(group);
  add("--max-passages", options.max_passages, "Passages accepted in one rank")->check(CLI::Range(1u, ipc::kMaxPassages));
  add("--shape-cache", options.shape_cache, "Compiled kernels kept by each stream: more memory, fewer compiled again")
      ->check(CLI::Range(1, 1 << 20));
}

std::string openvino_version() { return std::string("OpenVINO ") + ov::get_openvino_version().buildNumber; }

std::string openvino_versions() { return openvino_version() + "\ntokenizers " + ranking_tokenizer_version(); }

}  // namespace ranking
