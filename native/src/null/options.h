// Flags of the null Task.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace ranking {

struct NullOptions {
  std::string model = "null";
  uint32_t delay_ms = 0;      // length of each call
  size_t queue = 1024;        // ranks accepted and not yet started
  uint32_t max_tokens = 512;  // per pair, special tokens included; at least 4
  uint32_t max_passages = 512;
};

void add_null_options(CLI::App& app, NullOptions& options);
std::string null_versions();

}  // namespace ranking
