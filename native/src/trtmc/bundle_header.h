// The head of a TRTMC bundle file, read without the runtime: "BUNDLE" 1 0, the length of the JSON as u64 little endian, the JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace ranking::trtmc {

inline constexpr uint64_t kMaxHeaderBytes = 16 << 20;

struct BundleHeader {
  std::string family;
  std::string task;  // as the bundle declares it, such as "reranking"
  std::string backend;
  std::string json;  // the whole header as it stands in the file
};

// Throws std::runtime_error that names the file and what is wrong: not a bundle, cut short, a header over kMaxHeaderBytes, not a
// JSON object, or without family, task and backend as strings.
BundleHeader read_bundle_header(const std::filesystem::path& bundle);

// Whether a bundle that declares this task may be served: not if it was made for encoding or embedding, whose families inherit a
// rerank interface without a trained head. Throws std::runtime_error that names the bundle and the task.
void refuse_encoders(const std::filesystem::path& bundle, const std::string& declared_task);

}  // namespace ranking::trtmc
