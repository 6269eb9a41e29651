// card.json: what is accepted, and that every refusal names the field.
#include "openvino/card.h"

#include <gtest/gtest.h>

#include <fstream>

#include "temporary_directory.h"

namespace ranking::openvino {
namespace {

Card read(const std::string& text) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "card.json") << text;
  return read_card(directory.path() / "card.json");
}

TEST(Card, ReadsIdentityAndLimits) {
  const auto card = read(R"({"id":"m","revision":"r1","family":"bert","precision":"int8","max_tokens":512,"score_kind":"logit",
                             "license":"Apache-2.0","source":"here"})");
  EXPECT_EQ(card.id, "m");
  EXPECT_EQ(card.revision, "r1");
  EXPECT_EQ(card.family, "bert");
  EXPECT_EQ(card.precision, "int8");
  EXPECT_EQ(card.max_tokens, 512u);
  EXPECT_EQ(card.score_kind, ScoreKind::kLogit);
}

TEST(Card, RefusalsNameTheField) {
  const auto f = [](const std::string& text, const std::string& expected) {
    try {
      read(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find(expected), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("card.json"), std::string::npos) << e.what();
    }
  };
  f("", "parse error");
  f("[]", "must be a JSON object");
  f("{}", "id must be a string");
  f(R"({"id":""})", "id must not be empty");
  f(R"({"id":1})", "id must be a string");
  f(R"({"id":"m","famly":"bert"})", "unknown field famly");
  f(R"({"id":"m","family":"b","precision":"p"})", "max_tokens");
  f(R"({"id":"m","family":"b","precision":"p","max_tokens":"512"})", "max_tokens");
  f(R"({"id":"m","family":"b","precision":"p","max_tokens":-1})", "max_tokens");
  f(R"({"id":"m","family":"b","precision":"p","max_tokens":7})", "8 to 65536");
  f(R"({"id":"m","family":"b","precision":"p","max_tokens":512})", "score_kind");
  f(R"({"id":"m","family":"b","precision":"p","max_tokens":512,"score_kind":"cosine"})", "score_kind must be");
  f("{\"id\":\"" + std::string(5000, 'm') + "\"}", "longer than 4096");
}

}  // namespace
}  // namespace ranking::openvino
