#include "serve.h"

#include <unistd.h>

#include <asio/signal_set.hpp>
#include <csignal>

#include "ipc/server.h"
#include "log/log.h"

namespace ranking {
namespace {

extern "C" void end_at_once(int signal) { _exit(128 + signal); }

}  // namespace

void end_on_signals() {
  std::signal(SIGTERM, end_at_once);
  std::signal(SIGINT, end_at_once);
}

bool serve(asio::io_context& io, Task& task, ipc::ListenPath& path, const ipc::ServerOptions& options) {
  ipc::Server server(io, task, path, options);
  asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&](const asio::error_code& error, int) {
    if (error) return;
    signals.clear();
    end_on_signals();
    server.drain();
  });
  log::info("ready", {{"model", task.info().model}, {"backend", task.info().backend}, {"precision", task.info().precision}});
  io.run();
  log::info("drained", {{"ranks_cut_off", server.cut_off()}});
  return server.cut_off() == 0;
}

}  // namespace ranking
