#include "null/null_task.h"

#include <algorithm>

#include "null/scoring.h"

namespace ranking {
namespace {

uint64_t microseconds(Clock::duration duration) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

bool passed(const std::optional<Clock::time_point>& deadline) { return deadline && Clock::now() >= *deadline; }

RankError late() {
  return {.code = ErrorCode::kDeadlineExceeded, .message = "the deadline passed before the answer was complete"};
}

TaskInfo describe(const NullOptions& options) {
  TaskInfo info;
  info.model = options.model;
  info.family = "null";
  info.backend = "null";
  info.precision = "f32";
  info.max_tokens = options.max_tokens;
  info.max_passages = options.max_passages;
  return info;
}

}  // namespace

NullTask::NullTask(const NullOptions& options) : options_(options), info_(describe(options)), thread_([this] { run(); }) {}

NullTask::~NullTask() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void NullTask::submit(Ticket ticket, RankRequest request, Completion done) {
  {
    std::lock_guard lock(mutex_);
    if (draining_) {
      refuse(std::move(done), {.code = ErrorCode::kBackendUnavailable, .message = "draining"});
    } else if (passed(request.deadline)) {
      refuse(std::move(done), late());
    } else if (queue_.size() >= options_.queue) {
      refuse(std::move(done), busy());
    } else {
      queue_.push_back({ticket, std::move(request), std::move(done), Clock::now()});
    }
  }
  wake_.notify_one();
}

void NullTask::cancel(Ticket ticket) {
  {
    std::lock_guard lock(mutex_);
    const auto job = std::find_if(queue_.begin(), queue_.end(), [&](const Job& queued) { return queued.ticket == ticket; });
    if (job == queue_.end()) return;
    refuse(std::move(job->done), {.code = ErrorCode::kCancelled, .message = "cancelled while queued"});
    queue_.erase(job);
  }
  wake_.notify_one();
}

void NullTask::health(HealthReply reply) {
  {
    std::lock_guard lock(mutex_);
    inbox_.pings.push_back(std::move(reply));
  }
  wake_.notify_one();
}

void NullTask::drain() {
  std::lock_guard lock(mutex_);
  draining_ = true;
}

void NullTask::refuse(Completion done, RankError error) { inbox_.refused.emplace_back(std::move(done), std::move(error)); }

RankError NullTask::busy() const {
  const auto wait_ms = static_cast<uint32_t>(std::max<size_t>(1, queue_.size() * options_.delay_ms));
  return {.code = ErrorCode::kServerBusy, .message = "the queue is full", .retry_after_ms = wait_ms};
}

// Each round takes what there is under the mutex and acts on it without, so that no completion runs under the mutex.
void NullTask::run() {
  std::unique_lock lock(mutex_);
  while (wait_for_work(lock)) {
    Inbox inbox = std::exchange(inbox_, {});
    if (!inbox.pings.empty()) {
      const TaskHealth now = snapshot();
      lock.unlock();
      for (auto& reply : inbox.pings) reply(now);
      lock.lock();
    }
    std::optional<Job> job = call_ ? std::nullopt : next_job();
    lock.unlock();
    for (auto& [done, error] : inbox.refused) done(std::move(error));
    if (job) start(std::move(*job));
    if (call_ && Clock::now() >= call_->ends) finish();
    lock.lock();
  }
  for (Job& job : queue_) refuse(std::move(job.done), {.code = ErrorCode::kBackendUnavailable, .message = "the Task ends"});
  queue_.clear();
  Inbox inbox = std::exchange(inbox_, {});
  lock.unlock();
  for (auto& [done, error] : inbox.refused) done(std::move(error));
  if (call_) finish();
}

// Returns false when the Task ends.
bool NullTask::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto work = [this] {
    return stopping_ || !inbox_.refused.empty() || !inbox_.pings.empty() || (!call_ && !queue_.empty());
  };
  if (call_) {
    wake_.wait_until(lock, call_->ends, work);
  } else {
    wake_.wait(lock, work);
  }
  return !stopping_;
}

std::optional<NullTask::Job> NullTask::next_job() {
  if (queue_.empty()) return std::nullopt;
  Job job = std::move(queue_.front());
  queue_.pop_front();
  return job;
}

void NullTask::start(Job job) {
  if (passed(job.request.deadline)) return job.done(late());
  const auto started = Clock::now();
  calls_ += 1;
  pairs_ += job.request.passages.size();
  call_ = Call{std::move(job.done),
               null_rank(job.request, options_.max_tokens),
               job.request.deadline,
               job.submitted,
               started,
               started + std::chrono::milliseconds(options_.delay_ms)};
}

void NullTask::finish() {
  Call call = std::move(*call_);
  call_.reset();
  if (passed(call.deadline)) return call.done(late());
  if (auto* scores = std::get_if<RankScores>(&call.outcome)) {
    scores->timing.queue_us = microseconds(call.started - call.submitted);
    scores->timing.public_task_call_wall_us = microseconds(Clock::now() - call.started);
    scores->timing.batches = 1;
  }
  call.done(std::move(call.outcome));
}

TaskHealth NullTask::snapshot() const {
  TaskHealth health;
  health.ready = !draining_;
  if (call_) health.oldest_call_ms = microseconds(Clock::now() - call_->started) / 1000;
  health.queued_requests = queue_.size();
  for (const Job& job : queue_) health.queued_pairs += job.request.passages.size();
  health.running_batches = call_ ? 1 : 0;
  health.counters = {{"calls_total", calls_}, {"pairs_total", pairs_}};
  return health;
}

std::unique_ptr<Task> make_null_task(const NullOptions& options) { return std::make_unique<NullTask>(options); }

}  // namespace ranking
