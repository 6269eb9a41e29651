// The executable as an operator meets it: flags, exit codes, signals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

#include "../ipc/client.h"
#include "../ipc/running_server.h"

extern char** environ;

namespace ranking {
namespace {

using namespace std::chrono_literals;
using ipc::Client;

class Process {
 public:
  Process(std::vector<std::string> arguments, const std::string& output) {
    arguments.insert(arguments.begin(), RANKING_TASK_BINARY);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (::posix_spawn(&pid_, RANKING_TASK_BINARY, &actions, nullptr, argv.data(), environ) != 0)
      throw std::runtime_error("spawn");
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ~Process() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  void signal(int number) { ::kill(pid_, number); }
  // The exit code, or the signal as a negative number.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return code(status);
  }
  std::optional<int> exited() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == 0) return std::nullopt;
    pid_ = -1;
    return code(status);
  }

 private:
  static int code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

  pid_t pid_ = -1;
};

class ProcessTest : public ::testing::Test {
 protected:
  Process start(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--socket", socket_});
    return Process(std::move(arguments), output_);
  }
  int run(std::vector<std::string> arguments) { return Process(std::move(arguments), output_).wait(); }
  std::string output() const {
    std::ostringstream text;
    text << std::ifstream(output_).rdbuf();
    return text.str();
  }
  std::unique_ptr<Client> connect() const {
    for (int i = 0; i < 2000; ++i) {
      try {
        auto client = std::make_unique<Client>(socket_);
        client->greet();
        return client;
      } catch (const std::system_error&) {
        std::this_thread::sleep_for(10ms);
      }
    }
    throw std::runtime_error("never ready");
  }

  ipc::TemporaryFolder folder_;
  const std::string socket_ = folder_ / "task.sock";
  const std::string output_ = folder_ / "output";
};

TEST_F(ProcessTest, CheckPrintsWhatWouldBeServed) {
  EXPECT_EQ(run({"--task", "null", "--check"}), 0);
  for (const char* part : {"model", "precision", "score ", "task_call_us"})
    EXPECT_NE(output().find(part), std::string::npos) << part;
}

TEST_F(ProcessTest, VersionNamesCommitAndLibraries) {
  EXPECT_EQ(run({"--version"}), 0);
  for (const char* part : {"ranking-task ", "commit ", "msgpack-cxx ", "asio ", "nlohmann-json ", "OpenSSL "})
    EXPECT_NE(output().find(part), std::string::npos) << part;
}

TEST_F(ProcessTest, HelpPrintsDefaults) {
  EXPECT_EQ(run({"--help"}), 0);
  for (const char* part : {"=1024", "=0660", "=30000", "RANKING_TASK_SOCKET"})
    EXPECT_NE(output().find(part), std::string::npos) << part;
}

TEST_F(ProcessTest, WrongUseEndsWith2) {
  EXPECT_EQ(run({}), 2);
  EXPECT_EQ(run({"--task", "null"}), 2);
  EXPECT_EQ(run({"--task", "no-such-task", "--socket", socket_}), 2);
  EXPECT_EQ(run({"--task", "null", "--socket", socket_, "--socket-mode", "0999"}), 2);
  EXPECT_EQ(run({"--task", "null", "--socket", socket_, "--no-such-flag"}), 2);
}

TEST_F(ProcessTest, ATakenSocketEndsWith4) {
  auto first = start({"--task", "null"});
  const auto client = connect();
  EXPECT_EQ(Process({"--task", "null", "--socket", socket_}, folder_ / "second").wait(), 4);
  client->send(ipc::ping_frame(1));
  EXPECT_EQ(client->read()->type, 8) << "the first is served on";
}

TEST_F(ProcessTest, TwoStartedAtOnceLeaveExactlyOne) {
  auto first = start({"--task", "null"});
  auto second = start({"--task", "null"});
  std::optional<int> first_code, second_code;
  while (!first_code && !second_code) {
    std::this_thread::sleep_for(10ms);
    first_code = first.exited();
    if (!first_code) second_code = second.exited();
  }
  EXPECT_EQ(first_code.value_or(second_code.value_or(0)), 4);
  Process& winner = first_code ? second : first;
  EXPECT_TRUE(connect());
  winner.signal(SIGTERM);
  EXPECT_EQ(winner.wait(), 0);
}

TEST_F(ProcessTest, SigtermDrainsAndEndsWith0) {
  auto process = start({"--task", "null", "--null-delay-ms", "1000"});
  const auto client = connect();
  client->send(ipc::rank_frame(1, "r", "q", {"p"}) + ipc::ping_frame(2));
  EXPECT_EQ(client->read()->type, 8);
  process.signal(SIGTERM);
  EXPECT_EQ(client->read()->type, 9);
  EXPECT_EQ(client->read()->type, 4) << "the accepted rank is answered";
  EXPECT_FALSE(client->read());
  EXPECT_EQ(process.wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(ProcessTest, ASecondSigtermEndsAtOnce) {
  auto process = start({"--task", "null", "--null-delay-ms", "60000"});
  const auto client = connect();
  client->send(ipc::rank_frame(1, "r", "q", {"p"}) + ipc::ping_frame(2));
  EXPECT_EQ(client->read()->type, 8);
  process.signal(SIGTERM);
  EXPECT_EQ(client->read()->type, 9);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 128 + SIGTERM);
}

TEST_F(ProcessTest, StartsAgainAfterAKill) {
  auto killed = start({"--task", "null"});
  connect();
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.wait(), -SIGKILL);
  EXPECT_TRUE(std::filesystem::is_socket(socket_)) << "left behind";
  auto next = start({"--task", "null"});
  EXPECT_TRUE(connect());
}

TEST_F(ProcessTest, LogsFailedRanksByIdAndNeverTheirText) {
  auto process = start({"--task", "null", "--log-level", "debug", "--null-max-tokens", "4"});
  const auto client = connect();
  client->send(ipc::rank_frame(1, "good-one", "", {"secretword"}) + ipc::rank_frame(2, "bad-one", "secretword", {"secretword"}));
  client->read();
  client->read();
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
  EXPECT_NE(output().find(R"("request_id":"good-one")"), std::string::npos);
  EXPECT_NE(output().find(R"("request_id":"bad-one","code":"input_too_long")"), std::string::npos);
  EXPECT_EQ(output().find("secretword"), std::string::npos);
}

}  // namespace
}  // namespace ranking
