#include "trtmc/job_queue.h"

#include <algorithm>
#include <numeric>

namespace ranking::trtmc {
namespace {

RankError error(ErrorCode code, std::string message) {
  RankError made;
  made.code = code;
  made.message = std::move(message);
  return made;
}

constexpr char kLate[] = "the deadline passed before the model could run";

size_t counted_tokens(const Job& job) {
  if (!job.tokens) return 0;
  return std::accumulate(job.tokens->per_pair.begin(), job.tokens->per_pair.end(), size_t{0});
}

}  // namespace

std::optional<RankError> JobQueue::push(JobPtr job) {
  const std::lock_guard lock(mutex_);
  if (draining_ || closed_) return error(ErrorCode::kBackendUnavailable, "the Task is draining");
  if (job->late(job->admitted)) return error(ErrorCode::kDeadlineExceeded, kLate);
  const size_t documents = job->request.passages.size();
  if (waiting_.size() >= bounds_.requests || (waiting_documents_ > 0 && waiting_documents_ + documents > bounds_.documents)) {
    return error(ErrorCode::kServerBusy, "the queue is full: " + std::to_string(waiting_.size()) + " requests with " +
                                             std::to_string(waiting_documents_) + " passages wait");
  }
  const bool has_deadline = job->request.deadline.has_value();
  waiting_documents_ += documents;
  waiting_.push_back({std::move(job), arrival_});
  (arrival_ == Stage::kReady ? to_run_ : to_count_).notify_one();
  // With a model free the job leaves at once; only one that has to wait needs somebody to watch its deadline.
  if (has_deadline && waiting_.size() > idle_runners_) to_tell_.notify_one();
  return std::nullopt;
}

JobPtr JobQueue::next_to_count() {
  std::unique_lock lock(mutex_);
  Place place;
  to_count_.wait(lock, [&] { return closed_ || (place = first(Stage::kArrived)) != waiting_.end(); });
  if (closed_) return nullptr;
  place->stage = Stage::kCounting;
  return place->job;
}

void JobQueue::counted(const JobPtr& job) {
  const std::lock_guard lock(mutex_);
  const auto place = find(job);
  if (place == waiting_.end()) return;
  place->stage = Stage::kReady;
  to_run_.notify_one();
}

bool JobQueue::abandon(const JobPtr& job) {
  const std::lock_guard lock(mutex_);
  const auto place = find(job);
  if (place == waiting_.end()) return false;
  leave(place);
  return true;
}

JobPtr JobQueue::next_to_run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    Place place;
    ++idle_runners_;
    to_run_.wait(lock, [&] { return closed_ || (place = first(Stage::kReady)) != waiting_.end(); });
    --idle_runners_;
    if (closed_) return nullptr;
    const auto now = Clock::now();
    if (place->job->late(now)) {
      give_up(place, ErrorCode::kDeadlineExceeded, kLate);
      continue;
    }
    JobPtr job = place->job;
    leave(place);
    running_.push_back({job, now});
    return job;
  }
}

void JobQueue::finish(const JobPtr& job) {
  const std::lock_guard lock(mutex_);
  std::erase_if(running_, [&](const Running& running) { return running.job == job; });
}

void JobQueue::cancel(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const auto waiting =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& entry) { return entry.job->ticket == ticket; });
  if (waiting != waiting_.end()) return give_up(waiting, ErrorCode::kCancelled, "cancelled by the client");
  for (const auto& running : running_) {
    if (running.job->ticket == ticket) running.job->cancelled = true;
  }
}

void JobQueue::drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
}

void JobQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  while (!waiting_.empty()) give_up(waiting_.begin(), ErrorCode::kBackendUnavailable, "the Task is stopping");
  to_count_.notify_all();
  to_run_.notify_all();
  to_tell_.notify_all();
}

void JobQueue::inquire(HealthReply reply) {
  const std::lock_guard lock(mutex_);
  inquiries_.push_back(std::move(reply));
  to_tell_.notify_one();
}

JobQueue::Errands JobQueue::wait() {
  std::unique_lock lock(mutex_);
  while (abandoned_.empty() && inquiries_.empty() && !closed_) {
    if (const auto deadline = earliest_deadline()) {
      to_tell_.wait_until(lock, *deadline);
    } else {
      to_tell_.wait(lock);
    }
    give_up_late(Clock::now());
  }
  return {std::exchange(abandoned_, {}), std::exchange(inquiries_, {}), load(Clock::now()), closed_};
}

JobQueue::Place JobQueue::first(Stage stage) {
  return std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& entry) { return entry.stage == stage; });
}

JobQueue::Place JobQueue::find(const JobPtr& job) {
  return std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& entry) { return entry.job == job; });
}

void JobQueue::leave(Place place) {
  waiting_documents_ -= place->job->request.passages.size();
  waiting_.erase(place);
}

void JobQueue::give_up(Place place, ErrorCode code, const char* why) {
  abandoned_.emplace_back(place->job, error(code, why));
  leave(place);
  to_tell_.notify_one();
}

void JobQueue::give_up_late(Clock::time_point now) {
  for (auto place = waiting_.begin(); place != waiting_.end();) {
    const auto next = std::next(place);
    if (place->job->late(now)) give_up(place, ErrorCode::kDeadlineExceeded, kLate);
    place = next;
  }
}

std::optional<Clock::time_point> JobQueue::earliest_deadline() const {
  std::optional<Clock::time_point> earliest;
  for (const auto& entry : waiting_) {
    const auto& deadline = entry.job->request.deadline;
    if (deadline && (!earliest || *deadline < *earliest)) earliest = deadline;
  }
  return earliest;
}

JobQueue::Load JobQueue::load(Clock::time_point now) const {
  Load load{draining_, waiting_.size(), waiting_documents_, 0, running_.size(), {}};
  for (const auto& entry : waiting_) {
    if (entry.stage == Stage::kReady) load.tokens += counted_tokens(*entry.job);
  }
  for (const auto& running : running_) load.oldest_run = std::max(load.oldest_run, now - running.since);
  return load;
}

}  // namespace ranking::trtmc
