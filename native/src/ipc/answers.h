// The answers of one connection: which exchanges wait for one, and the frames that wait for the socket.
//
// Any thread may call. An exchange is opened once and answered at most once: a second answer, or one after close(), is dropped
// and the caller is told. Frames gather here while a write is under way, so that one write carries many answers; only the last
// rank in flight has its answer sent by whoever completes it, as there is nothing to gather and a change of threads would only
// delay it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ipc/messages.h"

namespace ranking::ipc {

struct OpenRank {
  Ticket ticket = 0;
  std::string id;
  std::string traceparent;
  size_t passages = 0;
  Clock::time_point arrival;
};

class Answers {
 public:
  // `wake` asks for a call of take(). It is called without the mutex, and not again until take() has found nothing.
  // `send` gives bytes to the socket without waiting and returns how many it took. It is called under the mutex, on any thread,
  // before close().
  Answers(std::function<void()> wake, std::function<size_t(std::string_view)> send)
      : wake_(std::move(wake)), send_(std::move(send)) {}

  void open(uint64_t exchange, OpenRank rank);
  void open_ping();
  std::optional<Ticket> ticket(uint64_t exchange) const;  // of a rank that waits
  size_t ranks() const;                                   // that wait
  size_t pings() const;
  size_t in_flight() const;  // both

  // Writes the answer and returns the rank it answers, or nothing if none waits for it.
  std::optional<OpenRank> answer(uint64_t exchange, const RankOutcome& outcome);
  void answer_ping(uint64_t exchange, const TaskHealth& health);
  // Appends a frame that answers nothing.
  void push(const std::function<void(std::string& out)>& write);

  // Replaces `out` by the pending bytes. Returns false if there are none.
  bool take(std::string& out);
  size_t pending_bytes() const;

  // Drops the frames and forgets the ranks. Returns the tickets that will get no answer.
  std::vector<Ticket> close();

 private:
  // Tells whether the caller, having let go of the mutex, must wake.
  bool must_wake() { return !std::exchange(awake_, true); }

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, OpenRank> ranks_;
  size_t pings_ = 0;
  std::string pending_;
  bool awake_ = false;
  bool closed_ = false;
  const std::function<void()> wake_;
  const std::function<size_t(std::string_view)> send_;
};

}  // namespace ranking::ipc
