#include "ipc/listen_path.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace ranking::ipc {
namespace {

constexpr size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;  // 107

[[noreturn]] void fail(const std::string& action) { throw std::system_error(errno, std::generic_category(), action); }

struct Address {
  sockaddr_un socket{};
  socklen_t length;

  explicit Address(const std::string& path) {
    socket.sun_family = AF_UNIX;
    std::memcpy(socket.sun_path, path.data(), path.size());
    const bool abstract = path.front() == '@';
    if (abstract) socket.sun_path[0] = '\0';
    // An abstract name ends with the address; the name of a file ends with its NUL.
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&socket); }
};

// Closes on every path out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

int make_socket() {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) fail("socket");
  return fd;
}

// Whether somebody listens there. A full backlog answers EAGAIN: alive.
bool answers(const std::string& path) {
  const Descriptor probe(make_socket());
  const Address address(path);
  if (::connect(probe.get(), address.get(), address.length) == 0) return true;
  if (errno == ECONNREFUSED || errno == ENOENT) return false;
  if (errno == EAGAIN) return true;
  fail("connect to what is at " + path);
}

gid_t group_id(const std::string& group) {
  gid_t id = 0;
  const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), id);
  if (error == std::errc() && end == group.data() + group.size()) return id;
  const struct group* found = ::getgrnam(group.c_str());  // NOLINT(concurrency-mt-unsafe): at start, on the only thread
  if (found == nullptr) throw std::runtime_error("there is no group " + group);
  return found->gr_gid;
}

}  // namespace

ListenPath::ListenPath(ListenOptions options) : options_(std::move(options)) {
  const std::string& path = options_.path;
  if (path.empty() || path == "@") throw std::runtime_error("the socket path is empty");
  if (path.size() > kMaxPath) throw std::runtime_error("the socket path is longer than 107 bytes: " + path);
  if (path.find('\0') != std::string::npos) throw std::runtime_error("the socket path holds a NUL byte");
  if (abstract()) return;  // the kernel itself keeps abstract names apart
  take_lock();
  try {
    remove_stale();
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

ListenPath::~ListenPath() {
  unlink();
  if (lock_ >= 0) ::close(lock_);
}

void ListenPath::take_lock() {
  const std::string lock_path = options_.path + ".lock";
  Descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.get() < 0) fail("open " + lock_path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) throw std::runtime_error("another Task holds " + lock_path);
    fail("lock " + lock_path);
  }
  lock_ = lock.release();
}

void ListenPath::remove_stale() const {
  const std::string& path = options_.path;
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return;
    fail("look at " + path);
  }
  if (!S_ISSOCK(found.st_mode)) throw std::runtime_error(path + " is not a socket; it stays");
  if (answers(path)) throw std::runtime_error("a server that does not hold the lock answers at " + path + "; it stays");
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail("remove the stale socket " + path);
}

int ListenPath::listen() {
  const Address address(options_.path);
  Descriptor socket(make_socket());
  if (::bind(socket.get(), address.get(), address.length) != 0) fail("bind " + options_.path);
  if (!abstract()) own_file();
  if (::listen(socket.get(), SOMAXCONN) != 0) fail("listen on " + options_.path);
  return socket.release();
}

// Between bind and listen, so that nobody can connect before the mode is right.
void ListenPath::own_file() {
  const char* path = options_.path.c_str();
  struct stat made {};
  if (::lstat(path, &made) != 0) fail("look at " + options_.path);
  bound_ = {made.st_dev, made.st_ino};
  if (::chmod(path, options_.mode) != 0) fail("set the mode of " + options_.path);
  if (!options_.group.empty() && ::chown(path, static_cast<uid_t>(-1), group_id(options_.group)) != 0) {
    fail("set the group of " + options_.path);
  }
}

bool ListenPath::lost() const {
  struct stat found {};
  return bound_ && ::lstat(options_.path.c_str(), &found) != 0 && errno == ENOENT;
}

void ListenPath::unlink() {
  struct stat found {};
  if (bound_ && ::lstat(options_.path.c_str(), &found) == 0 && bound_ == std::pair(found.st_dev, found.st_ino)) {
    ::unlink(options_.path.c_str());
  }
  bound_.reset();
}

}  // namespace ranking::ipc
