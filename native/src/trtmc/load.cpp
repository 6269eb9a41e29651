#include "trtmc/load.h"

#include <future>
#include <stdexcept>

#include "log/log.h"
#include "task/digest.h"
#include "trtmc/bundle_header.h"
#include "trtmc/call.h"
#include "trtmc/library.h"

namespace ranking::trtmc {
namespace {

void require_paths(const TrtmcOptions& options) {
  if (options.runtime_root.empty() || options.bundle.empty())
    throw std::runtime_error("--task trtmc needs --runtime-root and --bundle");
}

std::vector<Model> load_models(const abi::CoreApi& core, const TrtmcOptions& options) {
  std::vector<Model> models;
  for (uint32_t i = 0; i < options.replicas; ++i) {
    const auto started = Clock::now();
    models.emplace_back(core, options);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started).count();
    log::info("model loaded", {{"replica", i + 1}, {"of", options.replicas}, {"ms", took}});
  }
  return models;
}

using Details = std::vector<std::pair<std::string, std::string>>;

void describe(Details& details, const ModelFacts& facts, bool pairwise) {
  details.emplace_back("model_family", facts.family);
  details.emplace_back("model_backend", facts.backend);
  details.emplace_back("declared_task", facts.declared_task);
  for (const auto& task : facts.tasks) details.emplace_back("task_on_offer", task);
  details.emplace_back("served", pairwise ? abi::kPairTask : abi::kDocumentsTask);
  for (const auto& control : facts.controls) {
    const std::string fallback = control.default_value.empty() ? "depends" : control.default_value;
    details.emplace_back("control",
                         control.name + " (" + kind_name(control.kind) + ", default " + fallback + "): " + control.description);
  }
}

ScoreKind score_kind(abi::ScoreKind kind) {
  switch (kind) {
    case abi::ScoreKind::kLogit: return ScoreKind::kLogit;
    case abi::ScoreKind::kProbability: return ScoreKind::kProbability;
    case abi::ScoreKind::kUnbounded: return ScoreKind::kUnbounded;
  }
  throw std::logic_error("a run let an unknown score kind pass");
}

TaskInfo identity(const TrtmcOptions& options, const Runner& runner, std::string digest) {
  TaskInfo info;
  info.task = runner.pairwise() ? abi::kPairTask : abi::kDocumentsTask;
  info.model = options.model.empty() ? options.bundle.stem().string() : options.model;
  info.revision = options.revision;
  info.family = runner.facts().family;
  info.backend = "trtmc";
  info.precision = options.precision;
  info.bundle_digest = std::move(digest);
  info.score_kind = score_kind(runner.score_kind());
  info.max_tokens = options.tokenizer_max_tokens;
  info.max_passages = options.max_passages;
  // A family may let the documents of one run see each other, so only single pairs are known to be independent.
  info.pointwise = runner.pairwise();
  return info;
}

}  // namespace

Loaded load(const TrtmcOptions& options, Figures& figures) {
  require_paths(options);
  Loaded loaded;
  const BundleHeader header = read_bundle_header(options.bundle);
  loaded.details.emplace_back("bundle", options.bundle.string());
  loaded.details.emplace_back("bundle_header", header.json);
  refuse_encoders(options.bundle, header.task);
  // A bundle has gigabytes: hashed while the runtime loads it.
  auto digest = std::async(std::launch::async, file_digest, options.bundle);
  const auto& core = open_runtime(options.runtime_root);
  loaded.details.emplace_back("runtime_version", text(core.runtime_version()));

  auto models = load_models(core, options);
  describe(loaded.details, models.front().facts(), models.front().pairwise());
  loaded.config = std::make_unique<const Config>(models.front().facts().controls, options.config);
  for (auto& model : models) loaded.runners.emplace_back(std::move(model), *loaded.config, figures);
  if (!options.tokenizer.empty()) {
    loaded.tokens = std::make_unique<const TokenCounter>(options.tokenizer, options.tokenizer_max_tokens);
  }
  loaded.info = identity(options, loaded.runners.front(), digest.get());
  return loaded;
}

}  // namespace ranking::trtmc
