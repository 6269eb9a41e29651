// What the tests of the trtmc Task share: the double as runtime, bundles, and a way to ask and wait.
#pragma once

#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <string>

#include "task/task.h"
#include "trtmc/options.h"
#include "trtmc_double/watch.h"

namespace ranking::trtmc {

std::filesystem::path double_root();
std::filesystem::path double_root_without_entry();

// What the double has counted, and its gate. The library must have been opened.
trtmc_double_figures watch();
void set_gate(bool open);

// A folder that goes with it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Options that load the double with a bundle whose header is patched with `header`.
TrtmcOptions options_for(const Folder& folder, const nlohmann::json& header = nlohmann::json::object());

RankRequest request(std::string query, std::vector<std::string> passages);

// Submits under a ticket never used before.
std::future<RankOutcome> submit(Task& task, RankRequest request, Ticket* ticket = nullptr);
RankOutcome ask(Task& task, RankRequest request);

// The scores; throws std::runtime_error with code and message if there are none.
RankScores scores(const RankOutcome& outcome);
// The error; throws std::runtime_error if there are scores.
RankError error(const RankOutcome& outcome);

TaskHealth health(Task& task);
// Asks until so many runs are under way.
void wait_for_runs(Task& task, uint64_t runs);

// The message of the exception that `body` throws; "nothing was thrown" otherwise.
template <typename Body>
std::string thrown(Body body) {
  try {
    body();
  } catch (const std::exception& failure) {
    return failure.what();
  }
  return "nothing was thrown";
}

}  // namespace ranking::trtmc
