// Flags of `--task trtmc`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ranking {

struct TrtmcOptions {
  std::filesystem::path runtime_root;   // holds libtrtmc_c.so.1 and the libraries beside it
  std::filesystem::path bundle;         // one bundle file
  std::vector<std::string> config;      // "name=value", see trtmc/config.h
  uint64_t kv_cache_bytes = 0;          // 0: the runtime's default
  std::filesystem::path runtime_cache;  // empty: none
  bool cuda_graphs = false;
  bool allow_pairwise = false;        // serve a bundle that only scores one pair at a time
  uint32_t replicas = 1;              // models loaded, each with one run at a time
  uint32_t max_passages = 512;        // in one request, at most 16384
  uint32_t queue_requests = 256;      // accepted and not yet started
  uint32_t queue_passages = 16384;    // of those ranks together
  std::string model;                  // as clients name it; empty: the bundle's file name without its extension
  std::string revision;               // the ABI reports none
  std::string precision = "unknown";  // the ABI reports none
  std::filesystem::path
      tokenizer;  // a tokenizer.json that counts and cuts in front of the family; empty: the family alone judges
  uint32_t tokenizer_max_tokens = 0;  // per pair under that tokenizer
};

void add_trtmc_options(CLI::App& app, TrtmcOptions& options);

// What this Task speaks: the version of the ABI. The runtime's own version is known only after loading it.
std::string trtmc_versions();

}  // namespace ranking
