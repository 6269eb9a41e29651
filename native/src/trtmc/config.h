// The family's controls: what the config fields of the loaded model allow, and what the operator set with --config name=value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "trtmc/abi.h"

namespace ranking::trtmc {

// One control that the family accepts for the Task. Copied from the runtime.
struct Control {
  std::string name;
  abi::ConfigKind kind = abi::ConfigKind::kString;
  std::string default_value;  // rendered; empty if it depends on the model or the input
  std::string description;
};

// Throws std::runtime_error on a kind that version 1.0 does not have.
Control read_control(const abi::ConfigField& field);

// "i64", "f64", "bool", "string", "i64_list", "f64_list", "string_list".
const char* kind_name(abi::ConfigKind kind);

// The settings of --config, typed by the controls; view() borrows from it. Never changes after construction, so that every model
// may use it at once.
class Config {
 public:
  // settings: "name=value". i64, f64: a decimal number. bool: true or false. string: as it stands. Lists: a JSON array.
  // Throws std::runtime_error that names the setting: no '=', unknown to the family (the known ones are listed), set twice, not
  // of its type.
  Config(std::span<const Control> controls, std::span<const std::string> settings);
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  // Null if nothing is set: the family's own defaults.
  const abi::ConfigView* view() const { return entries_.empty() ? nullptr : &view_; }

 private:
  using Value =
      std::variant<int64_t, double, bool, std::string, std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;
  struct Setting {
    std::string name;
    Value value;
    std::vector<abi::StringView> strings;  // views into a list of strings
  };

  static Value parse(const Control& control, const std::string& text);
  static abi::ConfigEntry entry(Setting& setting, abi::ConfigKind kind);

  std::vector<Setting> settings_;
  std::vector<abi::ConfigEntry> entries_;
  abi::ConfigView view_{};
};

}  // namespace ranking::trtmc
