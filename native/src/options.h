// The command line and environment of ranking-task.
#pragma once

#include <string>
#include <vector>

#include "backends.h"
#include "ipc/listen_path.h"
#include "ipc/server_state.h"

namespace ranking {

struct Options {
  std::string task;
  bool check = false;
  bool probe = false;
  bool version = false;
  std::string log_level = "info";
  ipc::ListenOptions listen;
  ipc::ServerOptions server;
};

// Adds the flags that are of no Task. What they fill is complete once the app has parsed.
void add_options(CLI::App& app, Options& options, const std::vector<Backend>& backends);

}  // namespace ranking
