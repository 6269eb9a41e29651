// The inference threads: one per stream of the engine, each computes one batch at a time.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "openvino/engine.h"
#include "openvino/fair_queue.h"

namespace ranking::openvino {

// A computed batch. A row has a finite score or an error.
struct BatchResult {
  unsigned stream = 0;
  Batch batch;
  std::vector<float> scores;
  std::vector<std::optional<RankError>> errors;
  Clock::time_point start;
  Clock::time_point end;
};

class Workers {
 public:
  // done is called on the stream's thread. pad_id fills the ids behind a row's tokens.
  Workers(Engine& engine, uint32_t pad_id, std::function<void(BatchResult)> done);
  ~Workers();  // waits for the running batches; their results are still reported

  // The stream must be idle: never used, or its last result reported.
  void start(unsigned stream, Batch batch);

 private:
  struct Slot {
    std::mutex mutex;
    std::condition_variable wake;
    std::optional<Batch> batch;
    bool stopping = false;
    std::thread thread;
  };

  void run(unsigned stream);

  Engine& engine_;
  const uint32_t pad_id_;
  const std::function<void(BatchResult)> done_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace ranking::openvino
