// A Task whose answers are given by the test, when and in the order it likes.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "task/task.h"

namespace ranking {

class ScriptedTask : public Task {
 public:
  ScriptedTask() {
    info_.model = "scripted";
    info_.max_passages = 1000;
  }
  // Requests that were never answered are answered now, as every Task does.
  ~ScriptedTask() override {
    for (auto& [ticket, done] : open_) done(RankError{.code = ErrorCode::kBackendUnavailable, .message = "the Task ends"});
  }

  const TaskInfo& info() const override { return info_; }

  void submit(Ticket ticket, RankRequest request, Completion done) override {
    std::lock_guard lock(mutex_);
    requests_.push_back({ticket, std::move(request)});
    open_.emplace(ticket, std::move(done));
    changed_.notify_all();
  }

  void cancel(Ticket ticket) override {
    std::lock_guard lock(mutex_);
    cancelled_.push_back(ticket);
    changed_.notify_all();
  }

  void health(HealthReply reply) override {
    TaskHealth health;
    health.ready = true;
    health.queued_requests = 7;
    reply(health);
  }

  void drain() override {
    std::lock_guard lock(mutex_);
    draining_ = true;
    changed_.notify_all();
  }

  // --- for the test ---

  using Request = std::pair<Ticket, RankRequest>;

  // Waits for the request at `index`, counted over all connections.
  Request request(size_t index) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return requests_.size() > index; });
    return requests_[index];
  }
  void wait_cancelled(size_t count) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return cancelled_.size() >= count; });
  }
  void wait_draining() {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return draining_; });
  }
  std::vector<Ticket> cancelled() {
    std::lock_guard lock(mutex_);
    return cancelled_;
  }
  size_t submitted() {
    std::lock_guard lock(mutex_);
    return requests_.size();
  }

  void answer(Ticket ticket, RankOutcome outcome) {
    Completion done;
    {
      std::lock_guard lock(mutex_);
      done = std::move(open_.extract(ticket).mapped());
    }
    done(std::move(outcome));
  }

 private:
  template <typename Condition>
  void wait(std::unique_lock<std::mutex>& lock, Condition condition) {
    if (!changed_.wait_for(lock, std::chrono::seconds(20), condition)) throw std::runtime_error("the server never came so far");
  }

  TaskInfo info_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Request> requests_;
  std::map<Ticket, Completion> open_;
  std::vector<Ticket> cancelled_;
  bool draining_ = false;
};

inline RankScores scores_of(std::vector<float> values) {
  RankScores scores;
  scores.scores = std::move(values);
  return scores;
}

}  // namespace ranking
