// --probe, as the health check of a container calls it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/local/stream_protocol.hpp>
#include <cstdlib>
#include <fstream>

#include "../ipc/running_server.h"
#include "null/null_task.h"

namespace ranking {
namespace {

int probe(const std::string& socket) {
  const std::string command = std::string(RANKING_TASK_BINARY) + " --probe --socket '" + socket + "' >/dev/null 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Probe, ReadyWhileTheTaskServesAndNotAfter) {
  asio::io_context io;
  NullTask task{NullOptions{}};
  std::string path;
  {
    ipc::RunningServer server(io, task);
    path = server.path();
    EXPECT_EQ(probe(path), 0);
  }
  EXPECT_EQ(probe(path), 1);
}

TEST(Probe, NotReadyWhileTheTaskDrains) {
  asio::io_context io;
  NullTask task{NullOptions{}};
  ipc::RunningServer server(io, task);
  task.drain();
  EXPECT_EQ(probe(server.path()), 1);
}

TEST(Probe, AListenerThatSaysNothingIsNotReady) {
  ipc::TemporaryFolder folder;
  asio::io_context io;
  asio::local::stream_protocol::acceptor mute(io, asio::local::stream_protocol::endpoint(folder / "mute.sock"));
  EXPECT_EQ(probe(folder / "mute.sock"), 1);
}

TEST(Probe, NeedsASocketButNoTask) { EXPECT_EQ(probe(""), 2); }

TEST(Probe, HostNameInThePath) {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  asio::io_context io;
  NullTask task{NullOptions{}};
  ipc::RunningServer server(io, task);
  const std::string folder = server.path().substr(0, server.path().rfind('/'));
  std::filesystem::create_symlink(server.path(), folder + "/task-" + name + ".sock");
  EXPECT_EQ(probe(folder + "/task-%h.sock"), 0);
}

}  // namespace
}  // namespace ranking
