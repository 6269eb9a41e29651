// What computes: rows of token ids in, one score a row out. The scheduler knows no more of the model than this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ranking::openvino {

// rows x length values each, row after row.
struct BatchInput {
  size_t rows = 0;
  size_t length = 0;  // padding included
  std::span<int64_t> ids;
  std::span<int64_t> mask;  // 1 for a token, 0 for padding
  std::span<int64_t> type_ids;
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Batches that can be computed at once.
  virtual unsigned streams() const = 0;

  // Writes one score per row. May be called for different streams (0 to streams()-1) at once, for one stream by one thread at a
  // time. Throws std::bad_alloc when memory is short and another std::exception for any other failure; both leave the engine
  // usable.
  virtual void score(unsigned stream, const BatchInput& input, std::span<float> scores) = 0;
};

}  // namespace ranking::openvino
