#include "ipc/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>
#include <cmath>
#include <new>
#include <utility>

#include "ipc/process_figures.h"
#include "ipc/rank_log.h"
#include "log/log.h"

namespace ranking::ipc {
namespace {

// The last check before scores leave: a Task that breaks its interface makes an error, never a wrong answer.
RankOutcome checked(RankOutcome outcome, size_t passages) {
  const auto* scores = std::get_if<RankScores>(&outcome);
  if (scores == nullptr) return outcome;
  if (scores->scores.size() != passages || (scores->tokens && scores->tokens->per_pair.size() != passages)) {
    return RankError{.code = ErrorCode::kBackendFailed, .message = "the Task returned a wrong number of scores"};
  }
  if (!std::all_of(scores->scores.begin(), scores->scores.end(), [](float score) { return std::isfinite(score); })) {
    return RankError{.code = ErrorCode::kBackendFailed, .message = "the Task returned a score that is not finite"};
  }
  return outcome;
}

}  // namespace

Connection::Connection(Socket socket, std::shared_ptr<ServerState> state, Closed closed)
    : socket_(std::move(socket)),
      state_(std::move(state)),
      closed_(std::move(closed)),
      answers_([this] { asio::post(socket_.get_executor(), [self = shared_from_this()] { self->write(); }); },
               [this, fd = socket_.native_handle()](std::string_view bytes) { return send_now(fd, bytes); }) {}

void Connection::start() {
  owed_since_ = Clock::now();
  read();
}

void Connection::refuse(const RankError& error) {
  phase_ = Phase::kRefused;
  owed_since_ = Clock::now();  // so that a client that does not read its refusal is closed in time
  answers_.push([&](std::string& out) { write_error(out, 0, "", error); });
}

void Connection::goaway() {
  if (phase_ == Phase::kGreeting) return close();
  answers_.push(write_goaway);
}

void Connection::close() {
  if (std::exchange(phase_, Phase::kClosed) == Phase::kClosed) return;
  const auto tickets = answers_.close();
  for (const Ticket ticket : tickets) state_->task.cancel(ticket);
  state_->counters.answers_unsent += tickets.size();
  if (!tickets.empty()) log::info("connection closed with ranks in flight", {{"ranks", tickets.size()}});
  asio::error_code ignored;
  socket_.close(ignored);
  closed_(shared_from_this());
}

void Connection::check_stalled(Clock::time_point now) {
  if (!owed_since_ || now - *owed_since_ < std::chrono::milliseconds(state_->options.frame_timeout_ms)) return;
  log::warn("connection closed: the client owes the rest of a frame for too long", {{"greeted", phase_ != Phase::kGreeting}});
  close();
}

// --- reading ---

void Connection::read() {
  const auto space = reader_.prepare();
  socket_.async_read_some(
      asio::buffer(space.data(), space.size()),
      [self = shared_from_this()](const asio::error_code& error, size_t bytes) { self->on_read(error, bytes); });
}

void Connection::on_read(const asio::error_code& error, size_t bytes) {
  if (phase_ == Phase::kClosed || phase_ == Phase::kRefused) return;
  if (error) return close();  // also when the client has only shut down its sending side: it has left
  reader_.commit(bytes);
  arrival_ = Clock::now();
  try {
    read_frames();
    if (phase_ == Phase::kGreeting || phase_ == Phase::kOpen) read();
  } catch (const ProtocolError& broken) {
    state_->counters.protocol_errors += 1;
    log::warn("protocol error", {{"error", broken.what()}});
    refuse({.code = ErrorCode::kProtocolError, .message = broken.what()});
  } catch (const std::bad_alloc&) {
    log::error("connection closed: out of memory while reading a frame");
    close();
  }
}

void Connection::read_frames() {
  while (phase_ == Phase::kGreeting || phase_ == Phase::kOpen) {
    const auto frame = reader_.next();
    if (!frame) break;
    owed_since_.reset();
    on_frame(*frame);
    close_if_unread();
  }
  if (phase_ == Phase::kOpen && reader_.partial() && !owed_since_) owed_since_ = arrival_;
  if (phase_ == Phase::kOpen) close_if_drained();
}

void Connection::on_frame(const Frame& frame) {
  if ((phase_ == Phase::kGreeting) != (frame.type == MessageType::kHello))
    throw ProtocolError(Fault::kUnknownType, "order of hello");
  switch (frame.type) {
    case MessageType::kHello: return on_hello(frame);
    case MessageType::kRank: return on_rank(frame);
    case MessageType::kCancel: return on_cancel(frame);
    case MessageType::kPing: return on_ping(frame);
    default: throw ProtocolError(Fault::kWrongDirection, "frame type");
  }
}

void Connection::on_hello(const Frame& frame) {
  const Hello hello = read_hello(frame.payload);
  // Not at info: a health check is a client too, every few seconds.
  log::debug("client connected", {{"client", hello.client}, {"protocol", hello.protocol}});
  if (hello.protocol != kProtocolVersion) {
    return refuse({.code = ErrorCode::kUnsupportedVersion, .message = "this Task speaks protocol 1"});
  }
  phase_ = Phase::kOpen;
  answers_.push([&](std::string& out) { write_welcome(out, state_->task.info(), state_->options.name); });
}

// An exchange counts up, so that one number is enough to know that none is used twice.
void Connection::open_exchange(uint64_t exchange) {
  if (exchange <= last_exchange_) throw ProtocolError(Fault::kBadExchange, "exchange used before");
  last_exchange_ = exchange;
}

bool Connection::full() const { return answers_.ranks() >= state_->options.max_in_flight; }

void Connection::on_rank(const Frame& frame) {
  open_exchange(frame.exchange);
  state_->counters.ranks += 1;
  try {
    RankRequest rank = read_rank(frame.payload, arrival_);
    const auto error = refusal(rank);  // before this rank counts as in flight
    const Ticket ticket = ++state_->last_ticket;
    answers_.open(frame.exchange, {ticket, rank.id, rank.traceparent, rank.passages.size(), arrival_});
    if (error) return answer(frame.exchange, *error);
    submit(frame.exchange, ticket, std::move(rank));
  } catch (const std::bad_alloc&) {
    const RankError error{.code = ErrorCode::kBackendUnavailable, .message = "out of memory for this request"};
    state_->counters.count_answer(error);
    refuse_exchange(frame.exchange, error);
  }
}

std::optional<RankError> Connection::refusal(const RankRequest& rank) const {
  const uint32_t most = state_->task.info().max_passages;
  if (full()) return RankError{.code = ErrorCode::kServerBusy, .message = "too many ranks in flight on this connection"};
  if (state_->draining) return RankError{.code = ErrorCode::kBackendUnavailable, .message = "the Task is draining"};
  if (rank.passages.empty()) return RankError{.code = ErrorCode::kInvalidRequest, .message = "a rank needs at least one passage"};
  if (rank.passages.size() > most) {
    return RankError{
        .code = ErrorCode::kInvalidRequest,
        .message = std::to_string(rank.passages.size()) + " passages; at most " + std::to_string(most) + " are accepted"};
  }
  return std::nullopt;
}

void Connection::submit(uint64_t exchange, Ticket ticket, RankRequest rank) {
  const size_t passages = rank.passages.size();
  try {
    state_->task.submit(ticket, std::move(rank), [self = shared_from_this(), exchange, passages](RankOutcome outcome) {
      self->answer(exchange, checked(std::move(outcome), passages));
    });
  } catch (const std::bad_alloc&) {
    answer(exchange, RankError{.code = ErrorCode::kBackendUnavailable, .message = "out of memory for this request"});
  } catch (const std::exception& failure) {
    log::error("the Task failed to take a request", {{"error", failure.what()}});
    answer(exchange, RankError{.code = ErrorCode::kBackendFailed, .message = "the Task failed to take the request"});
  }
}

void Connection::on_cancel(const Frame& frame) {
  read_empty(frame.payload);
  if (const auto ticket = answers_.ticket(frame.exchange)) state_->task.cancel(*ticket);
}

void Connection::on_ping(const Frame& frame) {
  open_exchange(frame.exchange);
  read_empty(frame.payload);
  // Counted apart from ranks: a client takes a Task that answers no ping for one that hangs, and this one is only busy.
  if (answers_.pings() >= state_->options.max_in_flight) {
    return refuse_exchange(frame.exchange,
                           {.code = ErrorCode::kServerBusy, .message = "too many pings in flight on this connection"});
  }
  answers_.open_ping();
  state_->task.health([self = shared_from_this(), exchange = frame.exchange](TaskHealth health) {
    health.ready = health.ready && !self->state_->draining;
    self->state_->counters.add_to(health.counters);
    health.counters.merge(process_counters());
    health.gauges.merge(process_gauges());
    self->answers_.answer_ping(exchange, health);
  });
}

// --- writing ---

// Runs on a thread of the Task, or on the io thread for what is refused here.
void Connection::answer(uint64_t exchange, const RankOutcome& outcome) {
  const auto rank = answers_.answer(exchange, outcome);
  if (!rank) return;
  state_->counters.count_answer(outcome);
  log_answer(*rank, outcome);
}

// Of an exchange that was never opened here: a ping, or a rank that could not be read.
void Connection::refuse_exchange(uint64_t exchange, const RankError& error) {
  answers_.push([&](std::string& out) { write_error(out, exchange, "", error); });
}

void Connection::write() {
  if (phase_ == Phase::kClosed) return;
  if (!answers_.take(outgoing_)) return phase_ == Phase::kRefused ? close() : close_if_drained();
  asio::async_write(socket_, asio::buffer(outgoing_), [self = shared_from_this()](const asio::error_code& error, size_t) {
    if (error) return self->close();
    self->write();
  });
}

// What it does not take, an error included, is left to write(). While draining that is everything, as write() also ends the
// connection.
size_t Connection::send_now(int fd, std::string_view bytes) const {
  if (state_->draining) return 0;
  const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent < 0 ? 0 : static_cast<size_t>(sent);
}

void Connection::close_if_unread() {
  if (answers_.pending_bytes() + outgoing_.size() <= state_->options.max_unread_bytes) return;
  state_->counters.slow_readers += 1;
  log::warn("connection closed: the client does not read its answers");
  close();
}

void Connection::close_if_drained() {
  if (!state_->draining || answers_.in_flight() > 0 || answers_.pending_bytes() > 0 || !outgoing_.empty()) return;
  // A rank that has arrived and is not read yet gets its refusal first.
  asio::error_code gone;
  if (socket_.available(gone) == 0) close();
}

}  // namespace ranking::ipc
