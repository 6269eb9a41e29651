// ranking-task: loads one Task and serves it on a Unix socket. The exit codes are documented in native/README.md.
#include <openssl/crypto.h>
#include <spdlog/version.h>

#include <algorithm>
#include <asio/version.hpp>
#include <csignal>
#include <iostream>
#include <msgpack/version_master.hpp>

#include "backends.h"
#include "check.h"
#include "log/log.h"
#include "options.h"
#include "probe.h"
#include "serve.h"

namespace {

using namespace ranking;

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kNotLoaded = 3, kNoSocket = 4, kCheckFailed = 5 };

constexpr const char* kName = "ranking-task " RANKING_VERSION;

void print_versions(const std::vector<Backend>& backends) {
  std::cout << kName << "\ncommit " RANKING_COMMIT "\ncompiler " RANKING_COMPILER "\nmsgpack-cxx " << MSGPACK_VERSION_MAJOR << '.'
            << MSGPACK_VERSION_MINOR << '.' << MSGPACK_VERSION_REVISION << "\nasio " << ASIO_VERSION / 100000 << '.'
            << ASIO_VERSION / 100 % 1000 << '.' << ASIO_VERSION % 100 << "\nspdlog " << SPDLOG_VER_MAJOR << '.'
            << SPDLOG_VER_MINOR << '.' << SPDLOG_VER_PATCH << "\nCLI11 " CLI11_VERSION "\nnlohmann-json "
            << NLOHMANN_JSON_VERSION_MAJOR << '.' << NLOHMANN_JSON_VERSION_MINOR << '.' << NLOHMANN_JSON_VERSION_PATCH << '\n'
            << OpenSSL_version(OPENSSL_VERSION) << '\n';
  for (const Backend& backend : backends) {
    if (!backend.versions.empty()) std::cout << backend.versions << '\n';
  }
}

// Returns nullptr, with the reason logged, if the Task cannot be loaded.
std::unique_ptr<Task> load(const Backend& backend) {
  const auto start = Clock::now();
  log::info("loading", {{"task", backend.name}, {"version", RANKING_VERSION}, {"commit", RANKING_COMMIT}});
  try {
    auto task = backend.make();
    nlohmann::ordered_json details = nlohmann::ordered_json::object();
    for (const auto& [name, value] : task->details()) details[name] = value;
    log::info("loaded", {{"ms", std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count()},
                         {"bundle_digest", task->info().bundle_digest},
                         {"details", details}});
    return task;
  } catch (const std::exception& failure) {
    log::error("the Task cannot be loaded", {{"task", backend.name}, {"error", failure.what()}});
    return nullptr;
  }
}

int check_task(const Backend& backend) {
  const auto task = load(backend);
  if (!task) return kNotLoaded;
  return check(*task, std::cout) ? kDone : kCheckFailed;
}

int serve_task(const Backend& backend, const Options& options) {
  std::unique_ptr<ipc::ListenPath> path;
  try {
    path = std::make_unique<ipc::ListenPath>(options.listen);
  } catch (const std::exception& failure) {
    log::error("the socket cannot be had", {{"socket", options.listen.path}, {"error", failure.what()}});
    return kNoSocket;
  }
  asio::io_context io;  // outlives the Task
  const auto task = load(backend);
  if (!task) return kNotLoaded;
  return serve(io, *task, *path, options.server) ? kDone : kFailed;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): what throws before the flags are read is a bug, and ends with its name
int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader of our log that has gone must not end us
  end_on_signals();

  CLI::App app("Serves one ranking Task on a Unix socket, by ipc/PROTOCOL.md.", "ranking-task");
  Options options;
  options.server.name = kName;
  const std::vector<Backend> backends = register_backends(app);
  add_options(app, options, backends);
  try {
    app.parse(argc, argv);
    const auto backend =
        std::find_if(backends.begin(), backends.end(), [&](const Backend& one) { return one.name == options.task; });
    if (options.version) return print_versions(backends), kDone;
    if (options.probe && !options.listen.path.empty()) return probe(options.listen.path, std::cout) ? kDone : kFailed;
    if (backend == backends.end() && !options.probe) throw CLI::RequiredError("--task");
    if (options.listen.path.empty() && !options.check) throw CLI::RequiredError("--socket");
    log::set_level(options.log_level);
    return options.check ? check_task(*backend) : serve_task(*backend, options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  } catch (const std::exception& failure) {
    log::error("ended by a failure", {{"error", failure.what()}});
    return kFailed;
  }
}
