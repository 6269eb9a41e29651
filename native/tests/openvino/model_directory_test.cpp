// Unusable model directories are refused with words that name the file at fault.
#include "openvino/model_directory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "openvino/openvino_task.h"
#include "temporary_directory.h"

namespace ranking::openvino {
namespace {

namespace fs = std::filesystem;

const fs::path kBert = fs::path(RANKING_TEST_DATA) / "architectures" / "bert";

void expect_refusal(const fs::path& directory, const std::string& expected) {
  OpenvinoOptions options;
  options.model = directory;
  try {
    make_openvino_task(options);
    ADD_FAILURE() << "loaded, though " << expected;
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find(expected), std::string::npos) << e.what();
  }
}

TEST(ModelDirectory, RefusalsNameTheFile) {
  expect_refusal("", "--model DIR is required");
  expect_refusal("/nowhere", "/nowhere is not a model directory");
  const auto f = [](const std::string& file, const std::string& content, const std::string& expected) {
    const TemporaryDirectory directory;
    for (const auto* name : {"model.xml", "model.bin", "tokenizer.json", "card.json"})
      fs::copy(kBert / name, directory.path() / name);
    fs::remove(directory.path() / file);
    if (!content.empty()) std::ofstream(directory.path() / file) << content;
    expect_refusal(directory.path(), expected);
  };
  f("model.xml", "", "model.xml");
  f("model.xml", "<net", "model.xml");
  f("model.bin", "", "model.bin");
  f("model.bin", "short", "model.xml");
  f("tokenizer.json", "", "tokenizer.json");
  f("tokenizer.json", "{}", "tokenizer.json");
  f("card.json", "", "card.json");
  f("card.json", "{", "card.json");
  f("model.onnx", "not onnx", "both model.xml and model.onnx");
}

TEST(ModelDirectory, DigestCoversWhatIsServed) {
  EXPECT_EQ(find_model(kBert).served,
            (std::vector<fs::path>{kBert / "card.json", kBert / "model.bin", kBert / "model.xml", kBert / "tokenizer.json"}));
  OpenvinoOptions options;
  options.model = kBert;
  const auto digest = make_openvino_task(options)->info().bundle_digest;
  EXPECT_EQ(digest.size(), 7u + 64);
  EXPECT_TRUE(digest.starts_with("sha256:"));
}

}  // namespace
}  // namespace ranking::openvino
