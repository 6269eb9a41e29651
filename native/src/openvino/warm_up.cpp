#include "openvino/warm_up.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <stdexcept>
#include <vector>

#include "openvino/fair_queue.h"
#include "task/clock.h"

namespace ranking::openvino {
namespace {

struct Shape {
  size_t rows;
  size_t length;
};

// Single rows of each length, then pairs of rows, and so on: a run that is cut short has met every length at least.
std::vector<Shape> shapes(size_t max_length, size_t batch_tokens) {
  std::vector<Shape> all;
  for (size_t rows = 1; rows == 1 || rows * kLengthStep <= batch_tokens; ++rows) {
    for (size_t length = kLengthStep; length < max_length + kLengthStep; length += kLengthStep) {
      const auto padded = std::min(length, max_length);
      if (rows == 1 || rows * padded <= batch_tokens) all.push_back({rows, padded});
    }
  }
  return all;
}

size_t warm_stream(Engine& engine, unsigned stream, const std::vector<Shape>& all, Clock::time_point until) {
  std::vector<int64_t> ids, mask, type_ids;
  std::vector<float> scores;
  size_t done = 0;
  for (; done < all.size() && (done == 0 || Clock::now() < until); ++done) {
    const auto [rows, length] = all[done];
    ids.assign(rows * length, 1);
    mask.assign(rows * length, 1);
    type_ids.assign(rows * length, 0);
    scores.assign(rows, 0);
    engine.score(stream, {rows, length, ids, mask, type_ids}, scores);
    if (!std::all_of(scores.begin(), scores.end(), [](float s) { return std::isfinite(s); })) {
      throw std::runtime_error("the model gives scores that are not finite");
    }
  }
  return done;
}

}  // namespace

size_t warm_up(Engine& engine, size_t max_length, size_t batch_tokens, std::chrono::milliseconds limit) {
  const auto all = shapes(max_length, batch_tokens);
  const auto until = Clock::now() + limit;
  std::vector<std::future<size_t>> streams;
  for (unsigned i = 0; i < engine.streams(); ++i) {
    streams.push_back(std::async(std::launch::async, [&, i] { return warm_stream(engine, i, all, until); }));
  }
  size_t least = all.size();
  for (auto& stream : streams) least = std::min(least, stream.get());
  return least;
}

}  // namespace ranking::openvino
