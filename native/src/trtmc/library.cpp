#include "trtmc/library.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "trtmc/call.h"

namespace ranking::trtmc {
namespace {

[[noreturn]] void refuse(std::string_view who, const std::string& why) {
  throw std::runtime_error(std::string(who) + ": " + why);
}

// A larger table is a newer minor version and serves as well.
void check_header(const abi::ApiHeader* header, size_t wanted, std::string_view who) {
  if (header == nullptr) refuse(who, "the runtime gave no table");
  if (header->major != abi::kMajor) {
    refuse(who, "the table has major version " + std::to_string(header->major) + ", this program needs " +
                    std::to_string(abi::kMajor));
  }
  if (header->byte_size < wanted) {
    refuse(who, "the table has " + std::to_string(header->byte_size) + " bytes, version 1.0 has " + std::to_string(wanted) +
                    ": an older runtime");
  }
}

template <typename Entry>
void require(Entry* entry, std::string_view who, const char* name) {
  if (entry == nullptr) refuse(who, std::string("the table has no ") + name);
}

void check_core(const abi::CoreApi* core, std::string_view who) {
  check_header(core == nullptr ? nullptr : &core->header, sizeof(abi::CoreApi), who);
  require(core->runtime_version, who, "runtime_version");
  require(core->error_message, who, "error_message");
  require(core->error_release, who, "error_release");
  require(core->model_load, who, "model_load");
  require(core->model_release, who, "model_release");
  require(core->model_info, who, "model_info");
  require(core->model_task_count, who, "model_task_count");
  require(core->model_task_info, who, "model_task_info");
  require(core->model_get_task_api, who, "model_get_task_api");
  require(core->config_field_count, who, "config_field_count");
  require(core->config_field_info, who, "config_field_info");
  require(core->result_release, who, "result_release");
}

template <typename Table>
const Table& checked_task(const abi::ApiHeader* header, const char* id) {
  check_header(header, sizeof(Table), id);
  const auto* table = reinterpret_cast<const Table*>(header);
  require(table->run, id, "run");
  require(table->result_view, id, "result_view");
  return *table;
}

void* open_library(const std::filesystem::path& file) {
  // RTLD_NOW: a runtime whose own libraries are missing fails here, with their name, and not in the first request.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the C library keeps the text for each thread
  if (library == nullptr) throw std::runtime_error(std::string("cannot load the TRTMC runtime: ") + dlerror());
  return library;
}

}  // namespace

const abi::CoreApi& open_runtime(const std::filesystem::path& runtime_root) {
  // Absolute, since dlopen searches the system for a name without a slash.
  const auto file = std::filesystem::absolute(runtime_root / abi::kLibraryName);
  void* symbol = dlsym(open_library(file), abi::kEntrySymbol);
  require(symbol, file.string(), abi::kEntrySymbol);
  const abi::CoreApi* core = nullptr;
  const auto status = reinterpret_cast<abi::GetApi>(symbol)(abi::kMajor, abi::kMinor, &core);
  if (status != abi::Status::kOk) refuse(file.string(), "trtmc_get_api(1, 0): " + status_name(status));
  check_core(core, file.string());
  return *core;
}

const abi::DocumentsApi& documents_table(const abi::ApiHeader* header) {
  return checked_task<abi::DocumentsApi>(header, abi::kDocumentsTask);
}

const abi::PairApi& pair_table(const abi::ApiHeader* header) { return checked_task<abi::PairApi>(header, abi::kPairTask); }

}  // namespace ranking::trtmc
