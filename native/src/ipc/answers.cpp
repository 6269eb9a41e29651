#include "ipc/answers.h"

#include <utility>

namespace ranking::ipc {
namespace {

constexpr size_t kKeepCapacity = 1u << 20;

void write(std::string& out, uint64_t exchange, const std::string& id, const RankOutcome& outcome) {
  if (const auto* scores = std::get_if<RankScores>(&outcome)) {
    write_scores(out, exchange, id, *scores);
  } else {
    write_error(out, exchange, id, std::get<RankError>(outcome));
  }
}

}  // namespace

void Answers::open(uint64_t exchange, OpenRank rank) {
  std::lock_guard lock(mutex_);
  ranks_.emplace(exchange, std::move(rank));
}

void Answers::open_ping() {
  std::lock_guard lock(mutex_);
  ++pings_;
}

std::optional<Ticket> Answers::ticket(uint64_t exchange) const {
  std::lock_guard lock(mutex_);
  const auto found = ranks_.find(exchange);
  return found == ranks_.end() ? std::nullopt : std::optional(found->second.ticket);
}

size_t Answers::in_flight() const {
  std::lock_guard lock(mutex_);
  return ranks_.size() + pings_;
}

size_t Answers::ranks() const {
  std::lock_guard lock(mutex_);
  return ranks_.size();
}

size_t Answers::pings() const {
  std::lock_guard lock(mutex_);
  return pings_;
}

std::optional<OpenRank> Answers::answer(uint64_t exchange, const RankOutcome& outcome) {
  std::optional<OpenRank> answered;
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    auto node = ranks_.extract(exchange);
    if (node.empty()) return std::nullopt;
    write(pending_, exchange, node.mapped().id, outcome);
    answered = std::move(node.mapped());
    if (ranks_.empty() && !awake_) pending_.erase(0, send_(pending_));
    wake = !pending_.empty() && must_wake();
  }
  if (wake) wake_();
  return answered;
}

void Answers::answer_ping(uint64_t exchange, const TaskHealth& health) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    --pings_;
    write_pong(pending_, exchange, health);
    if (!must_wake()) return;
  }
  wake_();
}

void Answers::push(const std::function<void(std::string& out)>& write) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    write(pending_);
    if (!must_wake()) return;
  }
  wake_();
}

bool Answers::take(std::string& out) {
  out.clear();
  if (out.capacity() > kKeepCapacity) out.shrink_to_fit();
  std::lock_guard lock(mutex_);
  if (pending_.empty()) {
    awake_ = false;
    return false;
  }
  std::swap(out, pending_);
  return true;
}

size_t Answers::pending_bytes() const {
  std::lock_guard lock(mutex_);
  return pending_.size();
}

std::vector<Ticket> Answers::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  pings_ = 0;
  std::string().swap(pending_);
  std::vector<Ticket> tickets;
  for (const auto& [exchange, rank] : std::exchange(ranks_, {})) tickets.push_back(rank.ticket);
  return tickets;
}

}  // namespace ranking::ipc
