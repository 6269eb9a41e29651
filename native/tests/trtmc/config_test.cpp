#include "trtmc/config.h"

#include <gtest/gtest.h>

#include <map>

#include "fixture.h"
#include "trtmc/call.h"

namespace ranking::trtmc {
namespace {

using Kind = abi::ConfigKind;

const std::vector<Control> kControls = {
    {"count", Kind::kI64, "0", ""},         {"scale", Kind::kF64, "1.0", ""},      {"flag", Kind::kBool, "false", ""},
    {"word", Kind::kString, "", ""},        {"numbers", Kind::kI64List, "[]", ""}, {"factors", Kind::kF64List, "[]", ""},
    {"words", Kind::kStringList, "[]", ""},
};

TEST(Config, NothingSetIsNoView) { EXPECT_EQ(Config(kControls, {}).view(), nullptr); }

TEST(Config, EveryTypeReachesTheFamilyAsItsOwn) {
  const std::vector<std::string> settings = {"count=-9223372036854775808",
                                             "scale=0.125",
                                             "flag=true",
                                             "word=a=b, \"c\"",
                                             "numbers=[1,-2,9223372036854775807]",
                                             "factors=[0.5, 2]",
                                             R"(words=["x", "", "y,z"])"};
  const Config config(kControls, settings);
  ASSERT_NE(config.view(), nullptr);
  ASSERT_EQ(config.view()->count, settings.size());
  std::map<std::string, abi::ConfigValue> values;
  for (uint64_t i = 0; i < config.view()->count; ++i) {
    const auto& entry = config.view()->entries[i];
    values[std::string(text(entry.name))] = entry.value;
  }
  for (const auto& control : kControls) EXPECT_EQ(values.at(control.name).kind, control.kind) << control.name;
  EXPECT_EQ(values["count"].as.i64, INT64_MIN);
  EXPECT_EQ(values["scale"].as.f64, 0.125);
  EXPECT_EQ(values["flag"].as.boolean, 1u);
  EXPECT_EQ(text(values["word"].as.string), "a=b, \"c\"");
  const auto numbers = values["numbers"].as.i64_list;
  EXPECT_EQ(std::vector<int64_t>(numbers.data, numbers.data + numbers.size), (std::vector<int64_t>{1, -2, INT64_MAX}));
  const auto factors = values["factors"].as.f64_list;
  EXPECT_EQ(std::vector<double>(factors.data, factors.data + factors.size), (std::vector<double>{0.5, 2}));
  const auto words = values["words"].as.string_list;
  ASSERT_EQ(words.size, 3u);
  EXPECT_EQ(text(words.data[0]), "x");
  EXPECT_EQ(text(words.data[1]), "");
  EXPECT_EQ(text(words.data[2]), "y,z");
}

TEST(Config, WrongSettingsAreNamed) {
  const auto f = [](const std::vector<std::string>& settings, const std::string& wanted) {
    const auto message = thrown([&] { Config(kControls, settings); });
    EXPECT_NE(message.find(wanted), std::string::npos) << message;
  };
  f({"count"}, "--config count: not of the form name=value");
  f({"cuont=1"}, "--config cuont: the family has no such control; it has: count, scale, flag, word, numbers, factors, words");
  f({"=1"}, "no such control");
  f({"count=1", "count=1"}, "--config count: set twice");
  f({"count="}, "'' is not a value of type i64");
  f({"count=1.5"}, "'1.5' is not a value of type i64");
  f({"count=9223372036854775808"}, "is not a value of type i64");
  f({"count= 1"}, "is not a value of type i64");
  f({"scale=nan"}, "is not a value of type f64");
  f({"scale=1e999"}, "is not a value of type f64");
  f({"scale=1,5"}, "is not a value of type f64");
  f({"flag=1"}, "'1' is not a value of type bool");
  f({"flag=True"}, "is not a value of type bool");
  f({"numbers=1,2"}, "--config numbers: not a JSON array for i64_list");
  f({"numbers=[1.5]"}, "not a JSON array for i64_list");
  f({"numbers=[9223372036854775808]"}, "not a JSON array for i64_list");
  f({"factors=[\"1\"]"}, "not a JSON array for f64_list");
  f({"words=[1]"}, "not a JSON array for string_list");
  f({"words=[\"open"}, "not a JSON array for string_list");
}

TEST(Config, ControlsCarryTheirDefaults) {
  abi::ConfigField field{};
  field.name = view("scale");
  field.kind = Kind::kF64;
  field.has_fixed_default = 1;
  field.default_value.kind = Kind::kF64;
  field.default_value.as.f64 = 0.5;
  field.description = view("a factor");
  const auto control = read_control(field);
  EXPECT_EQ(control.name, "scale");
  EXPECT_EQ(control.default_value, "0.5");
  EXPECT_EQ(control.description, "a factor");
  field.has_fixed_default = 0;
  EXPECT_EQ(read_control(field).default_value, "");
  field.kind = static_cast<Kind>(8);
  EXPECT_NE(thrown([&] { read_control(field); }).find("unknown kind 8"), std::string::npos);
}

}  // namespace
}  // namespace ranking::trtmc
