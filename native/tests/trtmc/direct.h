// The ranking Task of the double, called as directly as the ABI allows: what the trtmc Task is compared with.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "trtmc/call.h"
#include "trtmc/handles.h"
#include "trtmc/library.h"

namespace ranking::trtmc {

class Direct {
 public:
  explicit Direct(const std::filesystem::path& runtime_root, const std::filesystem::path& bundle)
      : core_(open_runtime(runtime_root)), model_(nullptr, core_.model_release) {
    const std::string root = runtime_root.string();
    const std::string path = bundle.string();
    const abi::LoadOptions options{sizeof(abi::LoadOptions), view(root), 0, {}, 0};
    abi::Model* model = nullptr;
    call(core_, "model_load", [&](abi::Error** error) { return core_.model_load(view(path), &options, &model, error); });
    model_.reset(model);
    const abi::ApiHeader* header = nullptr;
    call(core_, "model_get_task_api",
         [&](abi::Error** error) { return core_.model_get_task_api(model, view(abi::kDocumentsTask), 1, 0, &header, error); });
    api_ = reinterpret_cast<const abi::DocumentsApi*>(header);
  }

  std::vector<float> run(const std::string& query, std::span<const std::string> documents) {
    views_.clear();
    for (const auto& document : documents) views_.push_back(view(document));
    const abi::DocumentsRequest request{view(query), {views_.data(), views_.size()}};
    abi::Result* result = nullptr;
    call(core_, "run", [&](abi::Error** error) { return api_->run(model_.get(), &request, nullptr, &result, error); });
    const ResultHandle owner(result, core_.result_release);
    abi::DocumentsScores scores{};
    call(core_, "result_view", [&](abi::Error** error) { return api_->result_view(result, &scores, error); });
    return {scores.scores, scores.scores + scores.count};
  }

 private:
  const abi::CoreApi& core_;
  ModelHandle model_;
  const abi::DocumentsApi* api_ = nullptr;
  std::vector<abi::StringView> views_;
};

}  // namespace ranking::trtmc
