#include "fixture.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "trtmc/abi.h"
#include "trtmc_double/bundle_file.h"

namespace ranking::trtmc {
namespace {

template <typename Function>
Function exported(const char* name) {
  void* library = dlopen((double_root() / abi::kLibraryName).c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) throw std::runtime_error("the double is not open");
  void* symbol = dlsym(library, name);
  dlclose(library);  // only the count of NOLOAD: the program keeps it open
  if (symbol == nullptr) throw std::runtime_error(std::string("the double does not export ") + name);
  return reinterpret_cast<Function>(symbol);
}

}  // namespace

std::filesystem::path double_root() { return TRTMC_DOUBLE_ROOT; }
std::filesystem::path double_root_without_entry() { return TRTMC_DOUBLE_ROOT_WITHOUT_ENTRY; }

trtmc_double_figures watch() { return exported<trtmc_double_watch_fn>("trtmc_double_watch")(); }
void set_gate(bool open) { exported<trtmc_double_gate_fn>("trtmc_double_gate")(open); }

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "trtmc-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder for the test");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

TrtmcOptions options_for(const Folder& folder, const nlohmann::json& header) {
  TrtmcOptions options;
  options.runtime_root = double_root();
  options.bundle = folder.path() / "double.bundle";
  trtmc_double::write_bundle(options.bundle, header);
  return options;
}

RankRequest request(std::string query, std::vector<std::string> passages) {
  RankRequest made;
  made.id = "test";
  made.query = std::move(query);
  made.passages = std::move(passages);
  return made;
}

std::future<RankOutcome> submit(Task& task, RankRequest request, Ticket* ticket) {
  static std::atomic<Ticket> next{1};
  const Ticket mine = next++;
  if (ticket != nullptr) *ticket = mine;
  auto promise = std::make_shared<std::promise<RankOutcome>>();
  auto future = promise->get_future();
  task.submit(mine, std::move(request), [promise](RankOutcome outcome) { promise->set_value(std::move(outcome)); });
  return future;
}

RankOutcome ask(Task& task, RankRequest request) { return submit(task, std::move(request)).get(); }

RankScores scores(const RankOutcome& outcome) {
  if (const auto* failure = std::get_if<RankError>(&outcome)) throw std::runtime_error("no scores: " + failure->message);
  return std::get<RankScores>(outcome);
}

RankError error(const RankOutcome& outcome) {
  if (std::holds_alternative<RankScores>(outcome)) throw std::runtime_error("scores where an error was expected");
  return std::get<RankError>(outcome);
}

TaskHealth health(Task& task) {
  std::promise<TaskHealth> promise;
  task.health([&](TaskHealth reply) { promise.set_value(std::move(reply)); });
  return promise.get_future().get();
}

void wait_for_runs(Task& task, uint64_t runs) {
  while (health(task).running_batches != runs) std::this_thread::yield();
}

}  // namespace ranking::trtmc
