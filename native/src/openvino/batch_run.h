// Computes one batch so that one bad request fails alone.
#pragma once

#include <span>
#include <vector>

#include "openvino/engine.h"
#include "openvino/workers.h"

namespace ranking::openvino {

// One stream's place for the tensors of a batch, kept from batch to batch.
class BatchRun {
 public:
  BatchRun(Engine& engine, unsigned stream, uint32_t pad_id) : engine_(engine), stream_(stream), pad_id_(pad_id) {}

  // Never throws for a failure of the engine: where a batch of several requests fails, each request's rows are tried apart, and
  // the rows of those that fail again get the error, as does every row without a finite score.
  BatchResult run(Batch batch);

 private:
  void score(std::span<const Row> rows, size_t length, std::span<float> scores);
  void score_apart(BatchResult& result);
  void attempt(BatchResult& result, size_t begin, size_t end);

  Engine& engine_;
  const unsigned stream_;
  const uint32_t pad_id_;
  std::vector<int64_t> ids_, mask_, type_ids_;
};

}  // namespace ranking::openvino
