#include "log/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <regex>

namespace ranking::log {
namespace {

nlohmann::json line_of(const std::function<void()>& write) {
  ::testing::internal::CaptureStderr();
  write();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), text.empty() ? 0 : 1);
  return text.empty() ? nlohmann::json() : nlohmann::json::parse(text);
}

TEST(Log, HasTheShapeOfZerolog) {
  const auto line = line_of([] { warn("rank failed", {{"request_id", "r-1"}, {"passages", 3}, {"traceparent", nullptr}}); });
  EXPECT_EQ(line.at("level"), "warn");
  EXPECT_EQ(line.at("message"), "rank failed");
  EXPECT_EQ(line.at("request_id"), "r-1");
  EXPECT_EQ(line.at("passages"), 3);
  EXPECT_FALSE(line.contains("traceparent"));
  EXPECT_TRUE(std::regex_match(line.at("time").get<std::string>(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
}

TEST(Log, NamesEachLevel) {
  set_level("debug");
  EXPECT_EQ(line_of([] { debug("m"); }).at("level"), "debug");
  set_level("info");
  EXPECT_EQ(line_of([] { info("m"); }).at("level"), "info");
  EXPECT_EQ(line_of([] { error("m"); }).at("level"), "error");
}

TEST(Log, WritesOneValidLineWhateverTheBytes) {
  const auto line = line_of([] { info("a \"quoted\"\nline {} %v", {{"path", std::string("\xFF\x00\n", 3)}}); });
  EXPECT_EQ(line.at("message"), "a \"quoted\"\nline {} %v");
}

TEST(Log, LeavesOutWhatIsBelowTheLevel) {
  set_level("warn");
  EXPECT_TRUE(line_of([] { info("m"); }).is_null());
  EXPECT_FALSE(line_of([] { warn("m"); }).is_null());
  set_level("info");
}

}  // namespace
}  // namespace ranking::log
