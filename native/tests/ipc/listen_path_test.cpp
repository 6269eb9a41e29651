// The rules of ipc/PROTOCOL.md, section 1.
#include "ipc/listen_path.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "client.h"
#include "running_server.h"

namespace ranking::ipc {
namespace {

namespace fs = std::filesystem;

class ListenPathTest : public ::testing::Test {
 protected:
  // A socket bound by somebody who does not know of the lock.
  int bind_stranger(const std::string& path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_ / "task.sock";
};

TEST_F(ListenPathTest, TwoCannotHaveOnePath) {
  ListenPath first({.path = path_});
  EXPECT_THROW(ListenPath({.path = path_}), std::runtime_error);
  const int fd = first.listen();
  EXPECT_THROW(ListenPath({.path = path_}), std::runtime_error);
  Client still_served(path_);
  ::close(fd);
}

TEST_F(ListenPathTest, RefusesConnectionsUntilItListens) {
  ListenPath path({.path = path_});
  EXPECT_THROW(Client{path_}, std::system_error);
  const int fd = path.listen();
  Client client(path_);
  ::close(fd);
}

TEST_F(ListenPathTest, TakesOverAStaleSocket) {
  ::close(bind_stranger(path_));
  ASSERT_TRUE(fs::is_socket(path_));
  ListenPath path({.path = path_});
  ::close(path.listen());
}

TEST_F(ListenPathTest, NeverEvictsALiveServer) {
  const int stranger = bind_stranger(path_);
  ASSERT_EQ(::listen(stranger, 1), 0);
  EXPECT_THROW(ListenPath({.path = path_}), std::runtime_error);
  Client still_served(path_);
  ::close(stranger);
}

TEST_F(ListenPathTest, NeverRemovesWhatIsNotASocket) {
  std::ofstream(path_) << "precious";
  EXPECT_THROW(ListenPath({.path = path_}), std::runtime_error);
  std::string kept;
  std::ifstream(path_) >> kept;
  EXPECT_EQ(kept, "precious");
  fs::remove(path_);
  fs::create_symlink(folder_ / "elsewhere", path_);
  EXPECT_THROW(ListenPath({.path = path_}), std::runtime_error);
  EXPECT_TRUE(fs::is_symlink(path_));
}

TEST_F(ListenPathTest, AFailedAttemptGivesUpTheLock) {
  std::ofstream(path_) << "in the way";
  EXPECT_THROW(ListenPath({.path = path_}), std::runtime_error);
  fs::remove(path_);
  ListenPath path({.path = path_});
}

TEST_F(ListenPathTest, ModeDoesNotDependOnTheUmask) {
  for (const mode_t umask_value : {0u, 077u, 0777u}) {
    const mode_t before = ::umask(umask_value);
    ListenPath path({.path = path_, .mode = 0620});
    const int fd = path.listen();
    ::umask(before);
    struct stat made {};
    ASSERT_EQ(::lstat(path_.c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777u, 0620u);
    ::close(fd);
    fs::remove(path_ + ".lock");  // made without any right under umask 0777
  }
}

TEST_F(ListenPathTest, SetsTheGroup) {
  ListenPath path({.path = path_, .group = std::to_string(::getgid())});
  const int fd = path.listen();
  struct stat made {};
  ASSERT_EQ(::lstat(path_.c_str(), &made), 0);
  EXPECT_EQ(made.st_gid, ::getgid());
  ::close(fd);
}

TEST_F(ListenPathTest, AnUnknownGroupIsAnError) {
  ListenPath path({.path = path_, .group = "no-such-group-here"});
  EXPECT_THROW(path.listen(), std::runtime_error);
}

TEST_F(ListenPathTest, RemovesItsSocketAtTheEndAndOnlyIts) {
  {
    ListenPath path({.path = path_});
    ::close(path.listen());
    EXPECT_TRUE(fs::is_socket(path_));
  }
  EXPECT_FALSE(fs::exists(path_));
  {
    ListenPath path({.path = path_});
    ::close(path.listen());
    fs::rename(path_, path_ + ".moved");  // keeps its inode from being used again
    std::ofstream(path_) << "another's";
  }
  EXPECT_TRUE(fs::is_regular_file(path_));
}

TEST_F(ListenPathTest, PathsHaveABound) {
  EXPECT_THROW(ListenPath({.path = ""}), std::runtime_error);
  EXPECT_THROW(ListenPath({.path = folder_ / std::string(120, 'x')}), std::runtime_error);
  std::string longest = folder_ / "";
  longest.append(107 - longest.size(), 'x');
  ListenPath path({.path = longest});
  ::close(path.listen());
}

TEST_F(ListenPathTest, AbstractNamesLeaveNoFile) {
  const std::string name = "@ranking-test-" + std::to_string(::getpid());
  ListenPath path({.path = name});
  const int fd = path.listen();
  Client client(name);
  ListenPath second({.path = name});
  EXPECT_THROW(second.listen(), std::system_error);
  EXPECT_FALSE(fs::exists(name));
  EXPECT_FALSE(fs::exists(name + ".lock"));
  ::close(fd);
}

}  // namespace
}  // namespace ranking::ipc
