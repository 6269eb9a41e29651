#include "null/options.h"

#include <CLI/CLI.hpp>

#include "ipc/protocol.h"

namespace ranking {

void add_null_options(CLI::App& app, NullOptions& options) {
  constexpr const char* group = "null Task (no model: for benchmarks and tests)";
  app.add_option("--null-model", options.model, "Model id to serve under")->capture_default_str()->group(group);
  app.add_option("--null-delay-ms", options.delay_ms, "Length of each call in ms; one call at a time")
      ->capture_default_str()
      ->group(group);
  app.add_option("--null-queue", options.queue, "Ranks accepted and not yet started; more are refused as server_busy")
      ->capture_default_str()
      ->group(group);
  app.add_option("--null-max-tokens", options.max_tokens, "Limit per pair: words of query and passage, and 3")
      ->check(CLI::Range(4u, 1u << 31))
      ->capture_default_str()
      ->group(group);
  app.add_option("--null-max-passages", options.max_passages, "Passages accepted in one rank")
      ->check(CLI::Range(1u, ipc::kMaxPassages))
      ->capture_default_str()
      ->group(group);
}

std::string null_versions() { return ""; }

}  // namespace ranking
