// The Engine over OpenVINO's CPU plugin.
#pragma once

#include <filesystem>
#include <openvino/runtime/compiled_model.hpp>
#include <openvino/runtime/infer_request.hpp>
#include <string>
#include <vector>

#include "openvino/engine.h"

namespace ranking::openvino {

struct EngineOptions {
  std::filesystem::path model;  // model.xml (OpenVINO IR) or model.onnx
  unsigned streams = 1;
  unsigned threads = 1;        // of each stream
  unsigned shape_cache = 300;  // kernels kept by each stream
  bool background = false;     // compute only on cores that no other thread wants
};

class OpenvinoEngine final : public Engine {
 public:
  // Reads and compiles. Throws std::runtime_error when the files are unusable or the model is no cross-encoder with one score:
  // inputs input_ids, attention_mask and optionally token_type_ids (i64, [batch, length]); one output, f32, [batch] or [batch,
  // 1].
  explicit OpenvinoEngine(const EngineOptions& options);

  unsigned streams() const override { return static_cast<unsigned>(requests_.size()); }
  void score(unsigned stream, const BatchInput& input, std::span<float> scores) override;

  std::string device() const { return device_; }

 private:
  // Set while compiled_ is made, so they stand before it.
  std::string device_;
  bool has_type_ids_ = false;
  ov::CompiledModel compiled_;
  std::vector<ov::InferRequest> requests_;  // by stream
};

}  // namespace ranking::openvino
