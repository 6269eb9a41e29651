#include "settings.h"

#include <set>

#include "objects.h"

namespace trtmc_double {
namespace {

struct Known {
  const char* name;
  uint32_t kind;
  bool fixed_default;
  const char* description;
};

constexpr std::array<Known, kFields> kKnown = {{
    {"max_words", TRTMC_CONFIG_I64, true, "documents of more words are rejected; 0: no limit"},
    {"scale", TRTMC_CONFIG_F64, true, "factor of every score"},
    {"squash", TRTMC_CONFIG_BOOL, true, "probabilities instead of logits"},
    {"fault", TRTMC_CONFIG_STRING, false, "a fault of every run"},
    {"offsets", TRTMC_CONFIG_I64_LIST, true, "added to the scores by position"},
    {"weights", TRTMC_CONFIG_F64_LIST, true, "factors of the scores by position"},
    {"stop_words", TRTMC_CONFIG_STRING_LIST, true, "words that do not count"},
}};

[[noreturn]] void invalid(const std::string& name, const char* why) { throw Failure{TRTMC_INVALID_CONFIG, name + ": " + why}; }

const Known& known(const std::string& name) {
  for (const auto& candidate : kKnown) {
    if (name == candidate.name) return candidate;
  }
  invalid(name, "unknown");
}

template <typename Element, typename View>
std::vector<Element> list(View view) {
  require(view.data != nullptr || view.size == 0, "a list has a size and no data");
  return view.size == 0 ? std::vector<Element>{} : std::vector<Element>(view.data, view.data + view.size);
}

void set(Settings& settings, const std::string& name, const trtmc_config_value_v1& value) {
  if (name == "max_words") settings.max_words = value.as.i64;
  if (name == "scale") settings.scale = value.as.f64;
  if (name == "squash") settings.squash = value.as.boolean != 0;
  if (name == "fault") settings.fault = text(value.as.string);
  if (name == "offsets") settings.offsets = list<int64_t>(value.as.i64_list);
  if (name == "weights") settings.weights = list<double>(value.as.f64_list);
  if (name != "stop_words") return;
  for (const auto word : list<trtmc_string_view>(value.as.string_list)) settings.stop_words.emplace_back(text(word));
}

}  // namespace

trtmc_config_field_v1 field(uint64_t index) {
  const Known& known = kKnown[index];
  trtmc_config_field_v1 made{};
  made.name = view(known.name);
  made.kind = known.kind;
  made.has_fixed_default = known.fixed_default ? 1 : 0;
  made.default_value.kind = known.kind;  // all zero: also the empty string and the empty list
  if (known.kind == TRTMC_CONFIG_F64) made.default_value.as.f64 = Settings{}.scale;
  made.description = view(known.description);
  return made;
}

Settings read_settings(const trtmc_config_view_v1* config) {
  Settings settings;
  if (config == nullptr) return settings;
  require(config->entries != nullptr || config->count == 0, "a config has a count and no entries");
  std::set<std::string> seen;
  for (uint64_t i = 0; i < config->count; ++i) {
    const auto& entry = config->entries[i];
    const std::string name(text(entry.name));
    if (!seen.insert(name).second) invalid(name, "set twice");
    if (entry.value.kind != known(name).kind) invalid(name, "wrong type");
    require(entry.value.kind != TRTMC_CONFIG_BOOL || entry.value.as.boolean <= 1, "a bool is neither 0 nor 1");
    set(settings, name, entry.value);
  }
  if (settings.max_words < 0) invalid("max_words", "negative");
  return settings;
}

}  // namespace trtmc_double
