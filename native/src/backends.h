// The Tasks this executable can serve, by the name given to --task.
//
// How to add one: a folder src/<name> with
//   options.h        struct <Name>Options; void add_<name>_options(CLI::App&, <Name>Options&); std::string <name>_versions();
//   <name>_task.h    std::unique_ptr<Task> make_<name>_task(const <Name>Options&);
//   CMakeLists.txt   the static library ranking_<name>
// and one line in backends.cpp. make_<name>_task returns a loaded and warm Task or throws std::exception with a message for the
// operator.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "task/task.h"

namespace ranking {

struct Backend {
  std::string name;
  std::string versions;  // of what it is built on, such as "OpenVINO 2026.4.1"; empty if nothing
  std::function<std::unique_ptr<Task>()> make;
};

// Adds every Task's flags to app; the returned `make` functions read them after parsing.
std::vector<Backend> register_backends(CLI::App& app);

}  // namespace ranking
