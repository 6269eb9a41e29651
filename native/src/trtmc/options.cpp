#include "trtmc/options.h"

#include <CLI/CLI.hpp>

#include "ipc/protocol.h"

namespace ranking {
namespace {

constexpr const char* kGroup = "trtmc Task (a TRTMC bundle through its C ABI)";

void add_model_options(CLI::App& app, TrtmcOptions& options) {
  const auto add = [&](const char* flag, auto& value, const char* what) {
    return app.add_option(flag, value, what)->group(kGroup);
  };
  add("--runtime-root", options.runtime_root, "Folder with libtrtmc_c.so.1 and the libraries beside it");
  add("--bundle", options.bundle, "The bundle file to serve");
  add("--config", options.config, "A control of the family, name=value, lists as JSON arrays; repeatable; --check lists them")
      ->allow_extra_args(false);
  add("--kv-cache-bytes", options.kv_cache_bytes, "Key-value cache of each model; 0: the runtime's default")
      ->capture_default_str();
  add("--runtime-cache", options.runtime_cache, "Where the runtime keeps what it has compiled; empty: nowhere");
  app.add_flag("--cuda-graphs", options.cuda_graphs, "Let the runtime capture CUDA graphs")->group(kGroup);
  app.add_flag("--allow-pairwise", options.allow_pairwise,
               "Serve a bundle that has only text_pair_to_relevance, one run per passage")
      ->group(kGroup);
  add("--replicas", options.replicas, "Models to load; each does one run at a time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
}

void add_limits(CLI::App& app, TrtmcOptions& options) {
  const auto add = [&](const char* flag, uint32_t& value, const char* what) {
    return app.add_option(flag, value, what)->capture_default_str()->group(kGroup);
  };
  add("--trtmc-max-passages", options.max_passages, "Passages accepted in one rank")->check(CLI::Range(1u, ipc::kMaxPassages));
  add("--trtmc-queue", options.queue_requests, "Ranks accepted and not yet started; more are refused as server_busy")
      ->check(CLI::Range(1, 65536));
  add("--trtmc-queue-passages", options.queue_passages, "Passages of all those ranks")->check(CLI::Range(1, 1 << 24));
}

void add_identity(CLI::App& app, TrtmcOptions& options) {
  const auto add = [&](const char* flag, std::string& value, const char* what) {
    return app.add_option(flag, value, what)->group(kGroup);
  };
  add("--trtmc-model", options.model, "Model id to serve under; default: the bundle's file name without extension");
  add("--trtmc-revision", options.revision, "Revision of the checkpoint, which the ABI does not report");
  add("--trtmc-precision", options.precision, "Effective precision, which the ABI does not report")->capture_default_str();
}

void add_tokenizer(CLI::App& app, TrtmcOptions& options) {
  const auto file =
      app.add_option("--tokenizer", options.tokenizer, "A tokenizer.json that counts tokens and cuts in front of the family")
          ->group(kGroup);
  const auto limit = app.add_option("--tokenizer-max-tokens", options.tokenizer_max_tokens, "Limit of a pair under --tokenizer")
                         ->check(CLI::Range(8, 1 << 20))
                         ->group(kGroup);
  file->needs(limit);
  limit->needs(file);
}

}  // namespace

void add_trtmc_options(CLI::App& app, TrtmcOptions& options) {
  add_model_options(app, options);
  add_limits(app, options);
  add_identity(app, options);
  add_tokenizer(app, options);
}

std::string trtmc_versions() { return "TRTMC C ABI 1.0"; }

}  // namespace ranking
