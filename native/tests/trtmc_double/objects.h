// What stands behind the handles, and the counters of those alive.
#pragma once

#include <trtmc/trtmc.h>

#include <atomic>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trtmc_double {

struct Alive {
  std::atomic<int64_t> models{0}, results{0}, errors{0};
  std::atomic<uint64_t> runs{0}, overlaps{0};
};
extern Alive alive;

// A failure on its way to a status and, unless it is silent, an error detail.
struct Failure {
  trtmc_status status;
  std::string message;
  bool silent = false;
};

inline void require(bool condition, const char* message) {
  if (!condition) throw Failure{TRTMC_INVALID_ARGUMENT, message};
}

inline std::string_view text(trtmc_string_view view) {
  require(view.data != nullptr || view.size == 0, "a string view has a size and no data");
  return {view.data, view.size};
}

inline trtmc_string_view view(std::string_view text) { return {text.data(), text.size()}; }

// What the bundle's header asks of the double; see README.md.
struct Bundle {
  std::string family, task, backend;
  std::vector<std::string> tasks;
  uint32_t score_kind = TRTMC_SCORE_LOGIT;
  uint64_t seed = 1;
  bool work = true;
  bool null_task_api = false;
  std::string task_table;
  std::map<std::string, trtmc_status> fail;
};

// Throws Failure.
Bundle read_bundle(const std::string& path);

}  // namespace trtmc_double

struct trtmc_error {
  trtmc_status status;
  std::string message;
};

struct trtmc_model {
  trtmc_double::Bundle bundle;
  std::atomic<bool> running{false};
};

struct trtmc_result {
  std::vector<float> scores;
  uint64_t count = 0;
  uint32_t kind = TRTMC_SCORE_LOGIT;
  trtmc_status view_status = TRTMC_OK;
  bool leaks = false;
};

namespace trtmc_double {

// Runs one function of the ABI: a Failure becomes its status, with a detail unless it is silent.
template <typename Body>
trtmc_status guarded(trtmc_error** error, Body body) {
  if (error == nullptr) return TRTMC_INVALID_ARGUMENT;
  *error = nullptr;
  try {
    body();
    return TRTMC_OK;
  } catch (const Failure& failure) {
    if (!failure.silent) {
      *error = new trtmc_error{failure.status, failure.message};
      ++alive.errors;
    }
    return failure.status;
  } catch (const std::exception&) {
    return TRTMC_INTERNAL_ERROR;
  }
}

// Fails where the bundle says that this function must.
inline void fail_if_told(const trtmc_model& model, const char* function) {
  if (const auto told = model.bundle.fail.find(function); told != model.bundle.fail.end()) {
    throw Failure{told->second, std::string("the bundle tells ") + function + " to fail"};
  }
}

}  // namespace trtmc_double
