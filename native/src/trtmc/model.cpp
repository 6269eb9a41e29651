#include "trtmc/model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "trtmc/bundle_header.h"
#include "trtmc/call.h"
#include "trtmc/library.h"

namespace ranking::trtmc {
namespace {

ModelHandle load(const abi::CoreApi& core, const TrtmcOptions& options) {
  const std::string bundle = options.bundle.string();
  const std::string root = options.runtime_root.string();
  const std::string cache = options.runtime_cache.string();
  const abi::LoadOptions wanted{sizeof(abi::LoadOptions), view(root), options.kv_cache_bytes, view(cache),
                                options.cuda_graphs ? 1u : 0u};
  abi::Model* model = nullptr;
  call(core, "model_load", [&](abi::Error** error) { return core.model_load(view(bundle), &wanted, &model, error); });
  if (model == nullptr) throw std::runtime_error("model_load: returned OK without a model");
  return {model, core.model_release};
}

std::string versioned(std::string_view id, uint32_t major, uint32_t minor) {
  return std::string(id) + " " + std::to_string(major) + "." + std::to_string(minor);
}

std::string wanted_version(const char* task) { return versioned(task, abi::kMajor, abi::kMinor); }

std::string join(const std::vector<std::string>& names) {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none" : all;
}

// One run and the view of its result. The result lives as long as `use` runs.
template <typename Api, typename Request, typename View, typename Use>
auto run(const abi::CoreApi& core, abi::Model* model, const Api& api, const Request& request, const abi::ConfigView* config,
         Use use) {
  abi::Result* raw = nullptr;
  abi::Error* detail = nullptr;
  const auto started = Clock::now();
  const auto status = api.run(model, &request, config, &raw, &detail);
  const auto ended = Clock::now();
  const ResultHandle result(raw, core.result_release);
  settle(core, "run", status, detail);
  if (!result) throw std::runtime_error("run: returned OK without a result");
  View view{};
  call(core, "result_view", [&](abi::Error** error) { return api.result_view(result.get(), &view, error); });
  return use(view, started, ended);
}

abi::ScoreKind known(abi::ScoreKind kind) {
  const bool ok = kind == abi::ScoreKind::kLogit || kind == abi::ScoreKind::kProbability || kind == abi::ScoreKind::kUnbounded;
  if (!ok) throw std::runtime_error("run: returned scores of unknown kind " + std::to_string(static_cast<uint32_t>(kind)));
  return kind;
}

void check_finite(std::span<const float> scores) {
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!std::isfinite(scores[i])) throw std::runtime_error("run: the score of document " + std::to_string(i) + " is not finite");
  }
}

std::vector<float> checked(const abi::DocumentsScores& view, size_t documents) {
  if (view.count != documents) {
    throw std::runtime_error("run: returned " + std::to_string(view.count) + " scores for " + std::to_string(documents) +
                             " documents");
  }
  if (view.scores == nullptr && documents > 0) throw std::runtime_error("run: returned no scores");
  const std::span<const float> scores(view.scores, documents);
  check_finite(scores);
  return {scores.begin(), scores.end()};
}

}  // namespace

Model::Model(const abi::CoreApi& core, const TrtmcOptions& options) : core_(core), handle_(load(core, options)) {
  read_facts();
  refuse_encoders(options.bundle, facts_.declared_task);
  if (offers(abi::kDocumentsTask)) {
    documents_ = &documents_table(task_api(abi::kDocumentsTask));
    facts_.controls = read_controls(abi::kDocumentsTask);
  } else if (offers(abi::kPairTask) && options.allow_pairwise) {
    pairs_ = &pair_table(task_api(abi::kPairTask));
    facts_.controls = read_controls(abi::kPairTask);
  } else {
    const char* hint = offers(abi::kPairTask) ? "; --allow-pairwise serves it with one run per passage" : "";
    throw std::runtime_error(options.bundle.string() + ": the model does not offer " + wanted_version(abi::kDocumentsTask) +
                             ", only: " + join(facts_.tasks) + hint);
  }
}

void Model::read_facts() {
  abi::ModelInfo info{};
  call(core_, "model_info", [&](abi::Error** error) { return core_.model_info(handle_.get(), &info, error); });
  facts_.family = text(info.family);
  facts_.backend = text(info.backend);
  facts_.declared_task = text(info.bundle_task);
  uint64_t count = 0;
  call(core_, "model_task_count", [&](abi::Error** error) { return core_.model_task_count(handle_.get(), &count, error); });
  for (uint64_t i = 0; i < count; ++i) {
    abi::TaskInfo task{};
    call(core_, "model_task_info", [&](abi::Error** error) { return core_.model_task_info(handle_.get(), i, &task, error); });
    facts_.tasks.push_back(versioned(text(task.id), task.major, task.minor));
  }
}

std::vector<Control> Model::read_controls(const char* task) const {
  const auto id = view(task);
  uint64_t count = 0;
  call(core_, "config_field_count",
       [&](abi::Error** error) { return core_.config_field_count(handle_.get(), id, abi::kMajor, abi::kMinor, &count, error); });
  std::vector<Control> controls;
  for (uint64_t i = 0; i < count; ++i) {
    abi::ConfigField field{};
    call(core_, "config_field_info", [&](abi::Error** error) {
      return core_.config_field_info(handle_.get(), id, abi::kMajor, abi::kMinor, i, &field, error);
    });
    controls.push_back(read_control(field));
  }
  return controls;
}

bool Model::offers(const char* task) const {
  return std::find(facts_.tasks.begin(), facts_.tasks.end(), wanted_version(task)) != facts_.tasks.end();
}

const abi::ApiHeader* Model::task_api(const char* task) const {
  const abi::ApiHeader* header = nullptr;
  call(core_, "model_get_task_api", [&](abi::Error** error) {
    return core_.model_get_task_api(handle_.get(), view(task), abi::kMajor, abi::kMinor, &header, error);
  });
  return header;
}

Scores Model::run_documents(std::string_view query, std::span<const std::string> documents, const abi::ConfigView* config) const {
  std::vector<abi::StringView> views;
  views.reserve(documents.size());
  for (const auto& document : documents) views.push_back(view(document));
  const abi::DocumentsRequest request{view(query), {views.data(), views.size()}};
  return run<abi::DocumentsApi, abi::DocumentsRequest, abi::DocumentsScores>(
      core_, handle_.get(), *documents_, request, config, [&](const auto& scores, auto started, auto ended) {
        return Scores{checked(scores, documents.size()), known(scores.kind), started, ended};
      });
}

Scores Model::run_pair(std::string_view query, std::string_view document, const abi::ConfigView* config) const {
  const abi::PairRequest request{view(query), view(document)};
  return run<abi::PairApi, abi::PairRequest, abi::PairScore>(core_, handle_.get(), *pairs_, request, config,
                                                             [&](const auto& pair, auto started, auto ended) {
                                                               check_finite({&pair.score, 1});
                                                               return Scores{{pair.score}, known(pair.kind), started, ended};
                                                             });
}

}  // namespace ranking::trtmc
