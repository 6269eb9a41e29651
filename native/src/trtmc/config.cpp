#include "trtmc/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "trtmc/call.h"

namespace ranking::trtmc {
namespace {

using nlohmann::json;
using Kind = abi::ConfigKind;

[[noreturn]] void reject(const std::string& setting, const std::string& why) {
  throw std::runtime_error("--config " + setting + ": " + why);
}

template <typename Number>
bool parse_number(const std::string& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename Element>
std::vector<Element> parse_list(const Control& control, const json& array, bool (*is_element)(const json&)) {
  if (!array.is_array() || !std::all_of(array.begin(), array.end(), is_element)) {
    reject(control.name, std::string("not a JSON array for ") + kind_name(control.kind));
  }
  return array.get<std::vector<Element>>();
}

bool is_i64(const json& value) {
  // nlohmann::json keeps what is over the range of int64_t as an unsigned number.
  return value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX);
}

std::string join(std::span<const Control> controls) {
  std::string names;
  for (const auto& control : controls) names += (names.empty() ? "" : ", ") + control.name;
  return names.empty() ? "none" : names;
}

template <typename T>
std::vector<T> copy(abi::ArrayView<T> list) {
  return list.size == 0 ? std::vector<T>{} : std::vector<T>(list.data, list.data + list.size);
}

json rendered(const abi::ConfigValue& value) {
  switch (value.kind) {
    case Kind::kI64: return value.as.i64;
    case Kind::kF64: return value.as.f64;
    case Kind::kBool: return value.as.boolean != 0;
    case Kind::kString: return text(value.as.string);
    case Kind::kI64List: return copy(value.as.i64_list);
    case Kind::kF64List: return copy(value.as.f64_list);
    case Kind::kStringList: {
      json list = json::array();
      for (const auto item : copy(value.as.string_list)) list.push_back(text(item));
      return list;
    }
  }
  throw std::runtime_error("the runtime gave a config value of unknown kind " +
                           std::to_string(static_cast<uint32_t>(value.kind)));
}

}  // namespace

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kI64: return "i64";
    case Kind::kF64: return "f64";
    case Kind::kBool: return "bool";
    case Kind::kString: return "string";
    case Kind::kI64List: return "i64_list";
    case Kind::kF64List: return "f64_list";
    case Kind::kStringList: return "string_list";
  }
  throw std::runtime_error("the runtime gave a config field of unknown kind " + std::to_string(static_cast<uint32_t>(kind)));
}

Control read_control(const abi::ConfigField& field) {
  kind_name(field.kind);
  const bool fixed = field.has_fixed_default != 0;
  return {std::string(text(field.name)), field.kind,
          fixed ? rendered(field.default_value).dump(-1, ' ', false, json::error_handler_t::replace) : std::string(),
          std::string(text(field.description))};
}

Config::Config(std::span<const Control> controls, std::span<const std::string> settings) {
  std::vector<Kind> kinds;
  for (const auto& setting : settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos) reject(setting, "not of the form name=value");
    const std::string name = setting.substr(0, equals);
    const auto control = std::find_if(controls.begin(), controls.end(), [&](const Control& known) { return known.name == name; });
    if (control == controls.end()) reject(name, "the family has no such control; it has: " + join(controls));
    if (std::any_of(settings_.begin(), settings_.end(), [&](const Setting& set) { return set.name == name; })) {
      reject(name, "set twice");
    }
    settings_.push_back({name, parse(*control, setting.substr(equals + 1)), {}});
    kinds.push_back(control->kind);
  }
  // Only now do the settings stay where they are, so that they can be borrowed from.
  for (size_t i = 0; i < settings_.size(); ++i) entries_.push_back(entry(settings_[i], kinds[i]));
  view_ = {entries_.data(), entries_.size()};
}

Config::Value Config::parse(const Control& control, const std::string& text) {
  const auto array = [&] { return json::parse(text, nullptr, /*allow_exceptions=*/false); };
  switch (control.kind) {
    case Kind::kI64:
      if (int64_t value; parse_number(text, value)) return value;
      break;
    case Kind::kF64:
      if (double value; parse_number(text, value) && std::isfinite(value)) return value;
      break;
    case Kind::kBool:
      if (text == "true" || text == "false") return text == "true";
      break;
    case Kind::kString: return text;
    case Kind::kI64List: return parse_list<int64_t>(control, array(), is_i64);
    case Kind::kF64List: return parse_list<double>(control, array(), [](const json& item) { return item.is_number(); });
    case Kind::kStringList: return parse_list<std::string>(control, array(), [](const json& item) { return item.is_string(); });
  }
  reject(control.name, "'" + text + "' is not a value of type " + kind_name(control.kind));
}

abi::ConfigEntry Config::entry(Setting& setting, Kind kind) {
  abi::ConfigEntry entry{trtmc::view(setting.name), {kind, {}}};
  auto& as = entry.value.as;
  switch (kind) {
    case Kind::kI64: as.i64 = std::get<int64_t>(setting.value); break;
    case Kind::kF64: as.f64 = std::get<double>(setting.value); break;
    case Kind::kBool: as.boolean = std::get<bool>(setting.value) ? 1 : 0; break;
    case Kind::kString: as.string = trtmc::view(std::get<std::string>(setting.value)); break;
    case Kind::kI64List: {
      const auto& list = std::get<std::vector<int64_t>>(setting.value);
      as.i64_list = {list.data(), list.size()};
      break;
    }
    case Kind::kF64List: {
      const auto& list = std::get<std::vector<double>>(setting.value);
      as.f64_list = {list.data(), list.size()};
      break;
    }
    case Kind::kStringList:
      for (const auto& item : std::get<std::vector<std::string>>(setting.value)) setting.strings.push_back(trtmc::view(item));
      as.string_list = {setting.strings.data(), setting.strings.size()};
      break;
  }
  return entry;
}

}  // namespace ranking::trtmc
