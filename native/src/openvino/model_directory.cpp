#include "openvino/model_directory.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace ranking::openvino {
namespace {

std::filesystem::path required(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) throw std::runtime_error("the model directory lacks " + file.string());
  return file;
}

}  // namespace

ModelDirectory find_model(const std::filesystem::path& directory) {
  if (directory.empty()) throw std::runtime_error("--model DIR is required");
  if (!std::filesystem::is_directory(directory)) throw std::runtime_error(directory.string() + " is not a model directory");
  ModelDirectory found{{}, required(directory / "tokenizer.json"), required(directory / "card.json"), {}};
  if (std::filesystem::exists(directory / "model.onnx")) {
    if (std::filesystem::exists(directory / "model.xml"))
      throw std::runtime_error(directory.string() + " has both model.xml and model.onnx");
    found.model = required(directory / "model.onnx");
    found.served = {found.card, found.model, found.tokenizer};
  } else {
    found.model = required(directory / "model.xml");
    found.served = {found.card, required(directory / "model.bin"), found.model, found.tokenizer};
  }
  return found;
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  if (!input) throw std::runtime_error("cannot open " + file.string());
  return {std::istreambuf_iterator<char>(input), {}};
}

}  // namespace ranking::openvino
