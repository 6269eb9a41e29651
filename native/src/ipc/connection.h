// One client: reads its frames, hands ranks to the Task, writes the answers; the rules of ipc/PROTOCOL.md, section 8.
//
// Threads. All public functions run on the io thread. Completions of the Task run on its own threads and touch nothing but
// `answers_` and the counters; the io thread then writes, but for an answer that answers_ sends itself. Completions hold the
// connection, which may so outlive the server.
#pragma once

#include <asio/local/stream_protocol.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ipc/answers.h"
#include "ipc/frame.h"
#include "ipc/server_state.h"

namespace ranking::ipc {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = asio::local::stream_protocol::socket;
  using Closed = std::function<void(const std::shared_ptr<Connection>&)>;

  // `closed` is called once, on the io thread.
  Connection(Socket socket, std::shared_ptr<ServerState> state, Closed closed);

  void start();
  // Answers the connection itself with an error and closes it.
  void refuse(const RankError& error);
  // Announces the drain; the connection closes when nothing is in flight on it.
  void goaway();
  // Closes at once; what is in flight is cancelled.
  void close();
  // Closes the connection if its client owes the rest of a frame for too long.
  void check_stalled(Clock::time_point now);

  size_t in_flight() const { return answers_.in_flight(); }

 private:
  enum class Phase { kGreeting, kOpen, kRefused, kClosed };

  void read();
  void on_read(const asio::error_code& error, size_t bytes);
  void read_frames();
  void on_frame(const Frame& frame);
  void on_hello(const Frame& frame);
  void on_rank(const Frame& frame);
  void on_cancel(const Frame& frame);
  void on_ping(const Frame& frame);
  void open_exchange(uint64_t exchange);
  std::optional<RankError> refusal(const RankRequest& rank) const;
  void submit(uint64_t exchange, Ticket ticket, RankRequest rank);
  bool full() const;

  void answer(uint64_t exchange, const RankOutcome& outcome);
  void refuse_exchange(uint64_t exchange, const RankError& error);
  void write();
  size_t send_now(int fd, std::string_view bytes) const;
  void close_if_unread();
  void close_if_drained();

  Socket socket_;
  const std::shared_ptr<ServerState> state_;
  const Closed closed_;
  Answers answers_;
  FrameReader reader_;
  Phase phase_ = Phase::kGreeting;
  uint64_t last_exchange_ = 0;
  Clock::time_point arrival_;                    // of the bytes being read
  std::optional<Clock::time_point> owed_since_;  // when the client began to owe bytes: hello, or the rest of a frame
  std::string outgoing_;                         // being written
};

}  // namespace ranking::ipc
