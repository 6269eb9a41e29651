// An Engine without a model: the score of a row is a function of its tokens, and what the test wants to happen happens.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <vector>

#include "openvino/engine.h"

namespace ranking::openvino {

class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(unsigned streams = 1) : streams_(streams) {}

  // Token ids that make a batch misbehave when a row holds them.
  static constexpr int64_t kThrow = 200, kNoMemory = 201, kNan = 202;

  static float score_of(const int64_t* ids, const int64_t* mask, const int64_t* type_ids, size_t length) {
    float score = 0;
    for (size_t i = 0; i < length; ++i)
      score += static_cast<float>(mask[i] * (ids[i] * static_cast<int64_t>(i % 97 + 1) + type_ids[i]));
    return score;
  }

  unsigned streams() const override { return streams_; }

  void score(unsigned, const BatchInput& input, std::span<float> scores) override {
    pass_gate();
    ++calls;
    {
      std::lock_guard lock(mutex_);
      shapes.push_back({input.rows, input.length});
    }
    for (size_t i = 0; i < input.rows; ++i) {
      const auto at = i * input.length;
      scores[i] = score_of(&input.ids[at], &input.mask[at], &input.type_ids[at], input.length);
      for (size_t j = at; j < at + input.length; ++j) {
        if (input.mask[j] == 0) continue;
        if (input.ids[j] == kThrow) throw std::runtime_error("thrown by the test");
        if (input.ids[j] == kNoMemory) throw std::bad_alloc();
        if (input.ids[j] == kNan) scores[i] = std::numeric_limits<float>::quiet_NaN();
      }
    }
  }

  // While closed, calls wait. open(n) lets n calls pass.
  void close() { set_gate(0); }
  void open(size_t calls_to_pass = std::numeric_limits<size_t>::max()) { set_gate(calls_to_pass); }

  struct Shape {
    size_t rows, length;
  };
  std::atomic<size_t> calls = 0;
  std::vector<Shape> shapes;  // read when nothing runs

 private:
  void set_gate(size_t calls_to_pass) {
    std::lock_guard lock(mutex_);
    passes_ = calls_to_pass;
    wake_.notify_all();
  }

  void pass_gate() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return passes_ > 0; });
    if (passes_ != std::numeric_limits<size_t>::max()) --passes_;
  }

  const unsigned streams_;
  std::mutex mutex_;
  std::condition_variable wake_;
  size_t passes_ = std::numeric_limits<size_t>::max();
};

}  // namespace ranking::openvino
