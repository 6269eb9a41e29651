#include "trtmc/bundle_header.h"

#include <gtest/gtest.h>

#include <fstream>

#include "fixture.h"
#include "trtmc_double/bundle_file.h"

namespace ranking::trtmc {
namespace {

TEST(BundleHeader, IsReadWithoutTheRuntime) {
  const Folder folder;
  const auto file = folder.path() / "a.bundle";
  trtmc_double::write_bundle(file, {{"family", "eagle_vlm"}, {"backend", "trt"}});
  const auto header = read_bundle_header(file);
  EXPECT_EQ(header.family, "eagle_vlm");
  EXPECT_EQ(header.task, "reranking");
  EXPECT_EQ(header.backend, "trt");
  EXPECT_EQ(nlohmann::json::parse(header.json).at("sections").size(), 1u);
}

TEST(BundleHeader, BrokenFilesAreNamedWithWhatIsWrong) {
  const Folder folder;
  const auto file = folder.path() / "broken.bundle";
  const auto f = [&](const std::string& bytes, const std::string& wanted) {
    std::ofstream(file, std::ios::binary) << bytes;
    const auto message = thrown([&] { read_bundle_header(file); });
    EXPECT_NE(message.find(wanted), std::string::npos) << message;
    EXPECT_NE(message.find(file.string()), std::string::npos) << message;
  };
  const std::string magic("BUNDLE\x01\x00", 8);
  const auto length = [](uint64_t size) {
    std::string bytes;
    for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(size >> shift & 255);
    return bytes;
  };
  f("", "cut short");
  f("BUNDLE", "cut short");
  f(std::string("BUNDLE\x02\x00", 8) + length(2) + "{}", "not a TRTMC bundle");
  f("PK\x03\x04 a zip file", "not a TRTMC bundle");
  f(magic + "\x02", "cut short");
  f(magic + length(3) + "{}", "cut short");
  f(magic + length(UINT64_MAX) + "{}", "over the limit");
  f(magic + length(kMaxHeaderBytes + 1) + "{}", "over the limit");
  f(magic + length(kMaxHeaderBytes) + "{}", "cut short");
  f(magic + length(2) + "[]", "not a JSON object");
  f(magic + length(1) + "{", "not a JSON object");
  f(magic + length(2) + "{}", "no string 'family'");
  f(magic + length(14) + R"({"family":"a"})", "no string 'task'");
  f(magic + length(12) + R"({"family":1})", "no string 'family'");
}

TEST(BundleHeader, AFileThatIsNotThereIsNamed) {
  EXPECT_EQ(thrown([] { read_bundle_header("/nowhere/a.bundle"); }), "cannot open the bundle /nowhere/a.bundle");
}

TEST(BundleHeader, EncodersAreRefusedByName) {
  const auto f = [](const std::string& task, bool refused) {
    const auto message = thrown([&] { refuse_encoders("x.bundle", task); });
    EXPECT_EQ(message != "nothing was thrown", refused) << task;
    if (!refused) return;
    EXPECT_NE(message.find("x.bundle: the bundle declares the task '" + task + "'"), std::string::npos) << message;
  };
  f("encoding", true);
  f("embedding", true);
  f("text_to_embedding", true);
  f("text_to_pooled_features", true);
  f("reranking", false);
  f("text_query_documents_to_relevance", false);
  f("", false);
}

}  // namespace
}  // namespace ranking::trtmc
