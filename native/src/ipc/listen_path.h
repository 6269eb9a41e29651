// The socket a Task listens on: the rules of ipc/PROTOCOL.md, section 1.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

namespace ranking::ipc {

struct ListenOptions {
  std::string path;    // "@name" is in the abstract namespace
  mode_t mode = 0660;  // of a file; whatever the umask
  std::string group;   // name or number; empty: the group of the process
};

// Owns a path for as long as it lives. Constructed before the model is loaded, so that two Tasks do not load for one path;
// listen() comes when the Task is warm, and until then a connection is refused.
class ListenPath {
 public:
  // Takes the lock. Throws std::runtime_error if another process holds it, if anything but a socket is at the path, or if a
  // server that does not know of the lock answers there.
  explicit ListenPath(ListenOptions options);
  // Removes the socket, unless another has taken its place, and gives up the lock. PATH.lock stays: removing it would race with
  // the next owner, who may have opened it already.
  ~ListenPath();
  ListenPath(const ListenPath&) = delete;
  ListenPath& operator=(const ListenPath&) = delete;

  // Binds and listens. Returns the non-blocking descriptor, which the caller owns. Throws std::system_error.
  int listen();

  // Whether somebody has removed the socket file, so that no client can come any more; then listen() again.
  bool lost() const;

  // Removes the socket now, at the start of a drain, so that new clients see at once that nobody is there. The lock stays held.
  void unlink();

 private:
  bool abstract() const { return options_.path.front() == '@'; }
  void take_lock();
  void remove_stale() const;
  void own_file();

  ListenOptions options_;
  int lock_ = -1;
  std::optional<std::pair<dev_t, ino_t>> bound_;  // the socket file that is ours
};

}  // namespace ranking::ipc
