// The core table and the one entry point of the ABI, and the double's own watch.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "fault.h"
#include "objects.h"
#include "settings.h"
#include "tasks.h"
#include "watch.h"

namespace trtmc_double {

Alive alive;

namespace {

trtmc_string_view runtime_version() { return view("double 1.0"); }

trtmc_status error_code(const trtmc_error* error) { return error == nullptr ? TRTMC_OK : error->status; }

trtmc_string_view error_message(const trtmc_error* error) {
  return error == nullptr ? trtmc_string_view{} : view(error->message);
}

void error_release(trtmc_error* error) {
  if (error != nullptr) --alive.errors;
  delete error;
}

trtmc_status model_load(trtmc_string_view path, const trtmc_load_options_v1* options, trtmc_model** out, trtmc_error** error) {
  if (out != nullptr) *out = nullptr;
  return guarded(error, [&] {
    require(options != nullptr && out != nullptr, "model_load: a null argument");
    require(options->struct_size >= sizeof(trtmc_load_options_v1), "model_load: the options are cut short");
    require(!text(options->runtime_root).empty(), "model_load: the runtime root is empty");
    text(options->runtime_cache_path);
    require(options->cuda_graphs <= 1, "model_load: cuda_graphs is neither 0 nor 1");
    auto model = std::make_unique<trtmc_model>();
    model->bundle = read_bundle(std::string(text(path)));
    fail_if_told(*model, "model_load");
    *out = model.release();
    ++alive.models;
  });
}

void model_release(trtmc_model* model) {
  if (model != nullptr) --alive.models;
  delete model;
}

trtmc_status model_info(const trtmc_model* model, trtmc_model_info_v1* out, trtmc_error** error) {
  if (out != nullptr) *out = {};
  return guarded(error, [&] {
    require(model != nullptr && out != nullptr, "model_info: a null argument");
    fail_if_told(*model, "model_info");
    *out = {view(model->bundle.family), view(model->bundle.backend), view(model->bundle.task)};
  });
}

trtmc_status model_task_count(const trtmc_model* model, uint64_t* out, trtmc_error** error) {
  if (out != nullptr) *out = 0;
  return guarded(error, [&] {
    require(model != nullptr && out != nullptr, "model_task_count: a null argument");
    fail_if_told(*model, "model_task_count");
    *out = model->bundle.tasks.size();
  });
}

// "id 1.0" into its parts.
trtmc_task_info_v1 parse_task(std::string_view task) {
  const auto space = task.find(' ');
  const auto dot = task.find('.', space);
  const auto number = [&](size_t from) { return static_cast<uint32_t>(std::atoi(std::string(task.substr(from)).c_str())); };
  return {view(task.substr(0, space)), number(space + 1), number(dot + 1)};
}

trtmc_status model_task_info(const trtmc_model* model, uint64_t index, trtmc_task_info_v1* out, trtmc_error** error) {
  if (out != nullptr) *out = {};
  return guarded(error, [&] {
    require(model != nullptr && out != nullptr && index < model->bundle.tasks.size(), "model_task_info: no such Task");
    fail_if_told(*model, "model_task_info");
    *out = parse_task(model->bundle.tasks[index]);
  });
}

std::string require_task(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor) {
  require(model != nullptr, "a null model");
  const std::string id(text(task));
  const auto wanted = id + " " + std::to_string(major) + "." + std::to_string(minor);
  const auto& tasks = model->bundle.tasks;
  if (std::find(tasks.begin(), tasks.end(), wanted) == tasks.end()) throw Failure{TRTMC_UNSUPPORTED, wanted + " is not on offer"};
  return id;
}

trtmc_status model_get_task_api(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor,
                                const trtmc_api_header** out, trtmc_error** error) {
  if (out != nullptr) *out = nullptr;
  return guarded(error, [&] {
    require(out != nullptr, "model_get_task_api: a null argument");
    const std::string id = require_task(model, task, major, minor);
    fail_if_told(*model, "model_get_task_api");
    if (!model->bundle.null_task_api) *out = task_table(id, model->bundle.task_table);
  });
}

trtmc_status config_field_count(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor, uint64_t* out,
                                trtmc_error** error) {
  if (out != nullptr) *out = 0;
  return guarded(error, [&] {
    require(out != nullptr, "config_field_count: a null argument");
    require_task(model, task, major, minor);
    fail_if_told(*model, "config_field_count");
    *out = kFields;
  });
}

trtmc_status config_field_info(const trtmc_model* model, trtmc_string_view task, uint32_t major, uint32_t minor, uint64_t index,
                               trtmc_config_field_v1* out, trtmc_error** error) {
  if (out != nullptr) *out = {};
  return guarded(error, [&] {
    require(out != nullptr && index < kFields, "config_field_info: no such field");
    require_task(model, task, major, minor);
    fail_if_told(*model, "config_field_info");
    *out = field(index);
  });
}

void result_release(trtmc_result* result) {
  if (result == nullptr || result->leaks) return;
  --alive.results;
  delete result;
}

trtmc_core_api_v1 whole() {
  trtmc_core_api_v1 table{};
  table.header = {1, 0, sizeof(trtmc_core_api_v1)};
  table.runtime_version = runtime_version;
  table.error_code = error_code;
  table.error_message = error_message;
  table.error_release = error_release;
  table.model_load = model_load;
  table.model_release = model_release;
  table.model_info = model_info;
  table.model_task_count = model_task_count;
  table.model_task_info = model_task_info;
  table.model_get_task_api = model_get_task_api;
  table.config_field_count = config_field_count;
  table.config_field_info = config_field_info;
  table.result_release = result_release;
  return table;
}

trtmc_core_api_v1 table_with(std::string_view defect) {
  auto table = whole();
  if (defect == "major") table.header.major = 2;
  if (defect == "short") table.header.byte_size = offsetof(trtmc_core_api_v1, model_get_lora_api);
  if (defect == "larger") table.header.byte_size += 64;
  if (defect == "no_model_load") table.model_load = nullptr;
  return table;
}

}  // namespace
}  // namespace trtmc_double

extern "C" __attribute__((visibility("default"))) trtmc_status trtmc_get_api(uint32_t major, uint32_t minor,
                                                                             const trtmc_core_api_v1** out) {
  if (out == nullptr) return TRTMC_INVALID_ARGUMENT;
  *out = nullptr;
  const char* told = std::getenv("TRTMC_DOUBLE_TABLE");
  const std::string defect = told == nullptr ? "" : told;
  if (major != 1 || minor != 0 || defect == "version") return TRTMC_VERSION_MISMATCH;
  if (defect == "null") return TRTMC_OK;
  static std::map<std::string, trtmc_core_api_v1> tables;  // asked for by one thread at a time
  *out = &tables.try_emplace(defect, trtmc_double::table_with(defect)).first->second;
  return TRTMC_OK;
}

extern "C" trtmc_double_figures trtmc_double_watch() {
  const auto& alive = trtmc_double::alive;
  return {alive.models, alive.results, alive.errors, alive.runs, alive.overlaps};
}

extern "C" void trtmc_double_gate(bool open) { trtmc_double::open_gate(open); }
