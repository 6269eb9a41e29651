// Running out of descriptors must neither end the accept loop nor make it spin.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "client.h"
#include "running_server.h"
#include "scripted_task.h"

namespace ranking::ipc {
namespace {

uint64_t counter(Client& client, uint64_t exchange, const char* name) {
  client.send(ping_frame(exchange));
  return client.read()->fields.at("counters").as<std::map<std::string, uint64_t>>().at(name);
}

// Takes every descriptor this process may have.
class Hoard {
 public:
  Hoard() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{128, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (int fd; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) held_.push_back(fd);
  }
  ~Hoard() {
    release(held_.size());
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  void release(size_t count) {
    for (; count > 0; --count) {
      ::close(held_.back());
      held_.pop_back();
    }
  }

 private:
  rlimit before_{};
  std::vector<int> held_;
};

TEST(Descriptors, AClientWaitsUntilThereIsOne) {
  asio::io_context io;
  ScriptedTask task;
  RunningServer server(io, task);
  Client watcher(server.path());
  watcher.greet();
  {
    Hoard hoard;
    hoard.release(1);  // for the client's end alone
    Client waiting(server.path());
    waiting.send(hello_frame());
    uint64_t exchange = 0;
    uint64_t errors = 0;
    while (errors < 2) {
      errors = counter(watcher, ++exchange, "accept_errors_total");
      ::usleep(20'000);
    }
    EXPECT_LT(errors, 10u) << "the accept loop spins";
    hoard.release(10);
    EXPECT_EQ(waiting.read()->type, 2) << "served once there is a descriptor";
  }
}

}  // namespace
}  // namespace ranking::ipc
