// A server on a fresh path, run by its own thread until the end of the test. Declare io_context, Task and server in this order:
// the completions of the Task may hold what belongs to the io_context.
#pragma once

#include <stdlib.h>

#include <asio/io_context.hpp>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "ipc/server.h"

namespace ranking::ipc {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ranking-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

class RunningServer {
 public:
  RunningServer(asio::io_context& io, Task& task, ServerOptions options = {}, ListenOptions listen = {})
      : io_(io),
        path_(at(std::move(listen), folder_ / "task.sock")),
        server_(io_, task, path_, std::move(options)),
        thread_([this] { io_.run(); }) {}

  ~RunningServer() {
    if (thread_.joinable()) stop();
  }

  std::string path() const { return folder_ / "task.sock"; }
  void drain() { server_.drain(); }
  // Waits for the end of a drain. Returns the ranks it cut off.
  size_t join() {
    thread_.join();
    return server_.cut_off();
  }

 private:
  static ListenOptions at(ListenOptions listen, const std::string& path) {
    listen.path = path;
    return listen;
  }
  void stop() {
    io_.stop();
    thread_.join();
  }

  TemporaryFolder folder_;
  asio::io_context& io_;
  ListenPath path_;
  Server server_;
  std::thread thread_;
};

}  // namespace ranking::ipc
