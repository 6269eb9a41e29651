// The files of a model directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ranking::openvino {

struct ModelDirectory {
  std::filesystem::path model;      // model.xml or model.onnx
  std::filesystem::path tokenizer;  // tokenizer.json
  std::filesystem::path card;       // card.json
  // All that decides a score, in the order of the bundle digest: card.json, model.bin or model.onnx, model.xml, tokenizer.json.
  std::vector<std::filesystem::path> served;
};

// Throws std::runtime_error that names what is missing.
ModelDirectory find_model(const std::filesystem::path& directory);

std::string read_file(const std::filesystem::path& file);

}  // namespace ranking::openvino
