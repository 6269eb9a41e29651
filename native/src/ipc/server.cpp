#include "ipc/server.h"

#include <sys/socket.h>

#include <algorithm>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "log/log.h"

namespace ranking::ipc {
namespace {

using namespace std::chrono_literals;

// Long enough not to spin while descriptors are short, short enough not to be noticed.
constexpr auto kAcceptRetry = 100ms;
constexpr auto kTick = 1s;

}  // namespace

Server::Server(asio::io_context& io, Task& task, ListenPath& path, ServerOptions options)
    : io_(io),
      path_(path),
      state_(std::make_shared<ServerState>(task, std::move(options))),
      acceptor_(io, asio::local::stream_protocol(), path.listen()),
      retry_(io),
      tick_(io),
      drain_limit_(io) {
  accept();
  tick();
}

Server::~Server() { close_all(); }

// --- accepting ---

void Server::accept() {
  acceptor_.async_accept(
      [this](const asio::error_code& error, Connection::Socket socket) { on_accept(error, std::move(socket)); });
}

void Server::on_accept(const asio::error_code& error, Connection::Socket socket) {
  if (error == asio::error::operation_aborted) return;  // by a drain or by listen_again()
  if (error) {
    // No descriptors or no memory, most likely. Clients wait in the backlog meanwhile.
    state_->counters.accept_errors += 1;
    log::error("accept failed", {{"error", error.message()}});
    return retry_accept();
  }
  admit(std::move(socket));
  accept();
}

void Server::retry_accept() {
  retry_.expires_after(kAcceptRetry);
  retry_.async_wait([this](const asio::error_code& cancelled) {
    if (!cancelled) accept();
  });
}

void Server::admit(Connection::Socket socket) {
  state_->counters.connections += 1;
  if (!allowed(socket)) {
    state_->counters.connections_refused += 1;
    return log::warn("connection refused: its user is not allowed");
  }
  auto connection = std::make_shared<Connection>(std::move(socket), state_,
                                                 [this](const std::shared_ptr<Connection>& closed) { on_closed(closed); });
  const bool room = connections_.size() < state_->options.max_connections;
  connections_.insert(connection);
  if (room) return connection->start();
  state_->counters.connections_refused += 1;
  log::warn("connection refused: too many", {{"max_connections", state_->options.max_connections}});
  connection->refuse({.code = ErrorCode::kServerBusy, .message = "too many connections"});
}

bool Server::allowed(Connection::Socket& socket) const {
  const auto& uids = state_->options.peer_uids;
  if (uids.empty()) return true;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return std::find(uids.begin(), uids.end(), peer.uid) != uids.end();
}

// --- time ---

void Server::tick() {
  tick_.expires_after(kTick);
  tick_.async_wait([this](const asio::error_code& cancelled) {
    if (cancelled) return;
    const auto now = Clock::now();
    for (const auto& connection : std::set(connections_)) connection->check_stalled(now);  // a copy: closing erases
    if (!state_->draining && path_.lost()) listen_again();
    tick();
  });
}

// The lock is still ours, so nobody else may have the path.
void Server::listen_again() {
  log::warn("the socket file was removed; listening again");
  try {
    acceptor_ = Acceptor(io_, asio::local::stream_protocol(), path_.listen());
    retry_.cancel();
    accept();
  } catch (const std::exception& failure) {
    log::error("cannot listen again; the next try comes in a second", {{"error", failure.what()}});
  }
}

// --- drain ---

void Server::drain() {
  asio::post(io_, [this] { start_drain(); });
}

void Server::start_drain() {
  if (state_->draining.exchange(true)) return;
  log::info("draining", {{"connections", connections_.size()}});
  acceptor_.close();
  retry_.cancel();
  path_.unlink();
  state_->task.drain();
  drain_limit_.expires_after(std::chrono::milliseconds(state_->options.drain_timeout_ms));
  drain_limit_.async_wait([this](const asio::error_code& cancelled) {
    if (!cancelled) end_drain();
  });
  for (const auto& connection : std::set(connections_)) connection->goaway();
  end_if_drained();
}

void Server::on_closed(const std::shared_ptr<Connection>& connection) {
  connections_.erase(connection);
  end_if_drained();
}

// Without these timers the io_context has no work left.
void Server::end_if_drained() {
  if (!state_->draining || !connections_.empty()) return;
  tick_.cancel();
  drain_limit_.cancel();
}

void Server::end_drain() {
  for (const auto& connection : connections_) cut_off_ += connection->in_flight();
  log::error("drain timed out", {{"ranks", cut_off_}});
  close_all();
}

void Server::close_all() {
  for (const auto& connection : std::set(connections_)) connection->close();
}

}  // namespace ranking::ipc
