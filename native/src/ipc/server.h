// Listens on a ListenPath and serves one Task to all who connect.
//
// Threads. Everything runs on the io_context, which one thread runs; drain() may be called from any thread. The Task must outlive
// the server, and the io_context must outlive the Task, whose completions post to it.
#pragma once

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <memory>
#include <set>

#include "ipc/connection.h"
#include "ipc/listen_path.h"
#include "ipc/server_state.h"

namespace ranking::ipc {

class Server {
 public:
  // Listens from now on. Throws std::system_error.
  Server(asio::io_context& io, Task& task, ListenPath& path, ServerOptions options);
  // Closes all connections. On the thread that ran the io_context, after it.
  ~Server();

  // Stops listening, announces it to the clients and lets accepted ranks finish; then io.run() returns for want of work.
  void drain();

  // Ranks that the drain timeout cut off. After io.run().
  size_t cut_off() const { return cut_off_; }

 private:
  using Acceptor = asio::local::stream_protocol::acceptor;

  void accept();
  void on_accept(const asio::error_code& error, Connection::Socket socket);
  void admit(Connection::Socket socket);
  bool allowed(Connection::Socket& socket) const;
  void retry_accept();
  void tick();
  void listen_again();
  void start_drain();
  void on_closed(const std::shared_ptr<Connection>& connection);
  void end_if_drained();
  void end_drain();
  void close_all();

  asio::io_context& io_;
  ListenPath& path_;
  const std::shared_ptr<ServerState> state_;
  Acceptor acceptor_;
  asio::steady_timer retry_;  // after an accept that failed
  asio::steady_timer tick_;   // once a second: clients that owe bytes, a socket file that was removed
  asio::steady_timer drain_limit_;
  std::set<std::shared_ptr<Connection>> connections_;
  size_t cut_off_ = 0;
};

}  // namespace ranking::ipc
