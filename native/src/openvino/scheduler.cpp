#include "openvino/scheduler.h"

#include <algorithm>
#include <cmath>

#include "openvino/answer.h"

namespace ranking::openvino {
namespace {

// Before tokenizing, four bytes count as a token. It is not capped at max_tokens, so that the bound covers the memory of long
// texts too.
uint64_t estimate_tokens(const RankRequest& request, uint32_t special_tokens) {
  constexpr uint64_t kBytesPerToken = 4;
  uint64_t tokens = 0;
  for (const auto& passage : request.passages) tokens += passage.size() / kBytesPerToken + special_tokens + 1;
  return tokens + request.query.size() / kBytesPerToken;
}

RankError deadline_exceeded() {
  return {.code = ErrorCode::kDeadlineExceeded, .message = "the deadline passed before the answer was complete"};
}

RankError stopped() { return {.code = ErrorCode::kBackendUnavailable, .message = "the Task is shutting down"}; }

}  // namespace

Scheduler::Scheduler(Engine& engine, const Tokenizer& tokenizer, const SchedulerOptions& options)
    : special_tokens_(tokenizer.special_tokens()),
      options_(options),
      queue_(tokenizer.max_tokens()),
      running_since_(engine.streams()),
      stats_(engine.streams()),
      workers_(engine, tokenizer.pad_id(),
               [this](BatchResult result) {
                 post([this, result = std::make_shared<const BatchResult>(std::move(result))] { collect(*result); });
               }),
      tokenizing_(tokenizer, options.tokenizer_threads,
                  [this](JobPtr job) { post([this, job = std::move(job)] { enqueue(job); }); }) {
  for (unsigned i = engine.streams(); i > 0; --i) idle_.push_back(i - 1);
  thread_ = std::thread([this] { run(); });
}

Scheduler::~Scheduler() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Scheduler::submit(Ticket ticket, RankRequest request, Completion done) {
  post([this, job = std::make_shared<Job>(ticket, std::move(request), std::move(done))] { admit(job); });
}

void Scheduler::cancel(Ticket ticket) {
  post([this, ticket] {
    const auto job = jobs_.find(ticket);
    if (job != jobs_.end()) answer(job->second, RankError{.code = ErrorCode::kCancelled, .message = "cancelled"});
  });
}

void Scheduler::health(HealthReply reply) {
  post([this, reply = std::move(reply)] { reply(report()); });
}

void Scheduler::drain() {
  post([this] { draining_ = true; });
}

void Scheduler::post(Event event) {
  {
    std::lock_guard lock(mutex_);
    inbox_.push_back(std::move(event));
  }
  wake_.notify_one();
}

// Events that have come, or none when the next deadline has passed.
std::deque<Scheduler::Event> Scheduler::wait() {
  std::unique_lock lock(mutex_);
  const auto due = [this] { return stopping_ || !inbox_.empty(); };
  if (deadlines_.empty()) {
    wake_.wait(lock, due);
  } else {
    wake_.wait_until(lock, deadlines_.begin()->first, due);
  }
  return std::exchange(inbox_, {});
}

void Scheduler::run() {
  for (;;) {
    auto events = wait();
    for (auto& event : events) event();
    expire();
    start_batches();
    std::lock_guard lock(mutex_);
    if (stopping_ && inbox_.empty()) break;
  }
  while (!jobs_.empty()) answer(jobs_.begin()->second, stopped());
}

void Scheduler::admit(const JobPtr& job) {
  jobs_.emplace(job->ticket, job);
  if (auto error = refusal(*job)) return answer(job, std::move(*error));
  if (job->request.deadline) deadlines_.emplace(*job->request.deadline, job->ticket);
  job->charged = estimate_tokens(job->request, special_tokens_);
  queued_tokens_ += job->charged;
  ++tokenizing_jobs_;
  tokenizing_pairs_ += job->request.passages.size();
  tokenizing_.add(job);
}

std::optional<RankError> Scheduler::refusal(const Job& job) const {
  const auto& request = job.request;
  if (draining_) return stopped();
  if (request.passages.empty()) return RankError{.code = ErrorCode::kInvalidRequest, .message = "there are no passages"};
  if (request.passages.size() > options_.max_passages) {
    return RankError{
        .code = ErrorCode::kInvalidRequest,
        .message = std::to_string(request.passages.size()) + " passages, the limit is " + std::to_string(options_.max_passages)};
  }
  if (request.deadline && *request.deadline <= Clock::now()) return deadline_exceeded();
  const auto excess = excess_of(estimate_tokens(request, special_tokens_));
  if (excess == 0) return std::nullopt;
  return RankError{.code = ErrorCode::kServerBusy, .message = "the queue is full", .retry_after_ms = retry_after_ms(excess)};
}

// The tokens that must leave before a request of so many fits the bounds. One that is larger than the whole queue is accepted
// when nothing waits: it could never be scored otherwise.
uint64_t Scheduler::excess_of(uint64_t tokens) const {
  if (queued_tokens_ == 0) return 0;
  const auto beyond = [](uint64_t all, uint64_t bound) { return all - std::min(all, bound); };
  const auto excess = std::min(queued_tokens_, beyond(queued_tokens_ + tokens, options_.queue_tokens));
  const auto speed = stats_.tokens_per_second();
  if (options_.queue_seconds == 0 || speed == 0) return excess;
  constexpr double kShare = 0.85;  // some wait longer than what was ahead of them takes, as shorter ones that come later pass
  return std::max(excess, beyond(ahead_of(tokens), static_cast<uint64_t>(speed * options_.queue_seconds * kShare)));
}

// What is computed before a new request of so many tokens is, when all share the engine equally: of each other one as much as it
// has itself. So a long request in the queue does not make it full for a short one, which will pass.
uint64_t Scheduler::ahead_of(uint64_t tokens) const {
  uint64_t ahead = 0;
  for (const auto& [ticket, job] : jobs_) ahead += std::min(job->charged, tokens);
  return ahead;
}

// Until so many tokens have left the queue, at the speed at which it drains lately.
uint32_t Scheduler::retry_after_ms(uint64_t excess) const {
  constexpr double kUnknown = 1000;
  constexpr double kMax = 60'000;
  const auto speed = stats_.tokens_per_second();
  const auto wait = speed > 0 ? static_cast<double>(excess) / speed * 1000 : kUnknown;
  return static_cast<uint32_t>(std::clamp(std::ceil(wait), 1.0, kMax));
}

// A job comes back from the tokenizing stage.
void Scheduler::enqueue(const JobPtr& job) {
  --tokenizing_jobs_;
  tokenizing_pairs_ -= job->request.passages.size();
  if (!unanswered(*job)) return;
  if (job->error) return answer(job, std::move(*job->error));
  job->request.passages = {};
  job->request.query = {};
  uint64_t tokens = 0;
  for (const auto& pair : job->pairs) tokens += pair.ids.size();
  queued_tokens_ += tokens - job->charged;
  job->charged = tokens;
  job->unscored = job->pairs.size();
  job->scores.resize(job->pairs.size());
  queue_.add(job);
}

// While streams are idle, the work is spread over them: the last pairs of a queue, and so a small request alone, use all cores.
void Scheduler::start_batches() {
  while (!idle_.empty() && !queue_.empty()) {
    const auto share = (queue_.padded_tokens() + idle_.size() - 1) / idle_.size();
    auto batch = queue_.take(std::min(options_.batch_tokens, share));
    for (const auto& row : batch.rows) {
      const auto tokens = row.tokens().ids.size();
      row.job->charged -= tokens;
      queued_tokens_ -= tokens;
    }
    const auto stream = idle_.back();
    idle_.pop_back();
    running_since_[stream] = Clock::now();
    workers_.start(stream, std::move(batch));
  }
}

void Scheduler::expire() {
  const auto now = Clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now)
    answer(jobs_.at(deadlines_.begin()->second), deadline_exceeded());
}

void Scheduler::collect(const BatchResult& result) {
  auto& since = running_since_[result.stream];
  stats_.count_batch(result, Clock::now() - *since);
  since.reset();
  idle_.push_back(result.stream);
  const Job* last = nullptr;
  for (size_t i = 0; i < result.batch.rows.size(); ++i) {
    auto& job = *result.batch.rows[i].job;
    if (&job != last) ++job.batches;  // rows of one job stand together
    last = &job;
    collect_row(result, i);
  }
}

void Scheduler::collect_row(const BatchResult& result, size_t row) {
  const auto& [job, pair] = result.batch.rows[row];
  if (!unanswered(*job)) return;
  if (result.errors[row]) return answer(job, *result.errors[row]);
  job->scores[pair] = result.scores[row];
  job->padding += result.batch.length - job->pairs[pair].ids.size();
  job->first_start = std::min(job->first_start, result.start);
  job->last_end = std::max(job->last_end, result.end);
  if (--job->unscored > 0) return;
  if (job->request.deadline && *job->request.deadline <= result.end) return answer(job, deadline_exceeded());
  answer(job, answer_of(*job));
}

void Scheduler::answer(const JobPtr& given, RankOutcome outcome) {
  const auto job = given;  // NOLINT(performance-unnecessary-copy-initialization): `given` may live in jobs_
  forget(job);
  job->done(std::move(outcome));
}

void Scheduler::forget(const JobPtr& job) {
  job->abandoned = true;
  jobs_.erase(job->ticket);
  if (job->request.deadline) deadlines_.erase({*job->request.deadline, job->ticket});
  queue_.remove(job->ticket);
  queued_tokens_ -= std::exchange(job->charged, 0);
}

TaskHealth Scheduler::report() const {
  TaskHealth health;
  const auto now = Clock::now();
  health.ready = !draining_;
  health.queued_requests = tokenizing_jobs_ + queue_.requests();
  health.queued_pairs = tokenizing_pairs_ + queue_.pairs();
  health.queued_tokens = queued_tokens_;
  health.queued_tokens_max = options_.queue_tokens;
  for (const auto& since : running_since_) {
    if (!since) continue;
    ++health.running_batches;
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - *since).count();
    health.oldest_call_ms = std::max(health.oldest_call_ms, static_cast<uint64_t>(age));
  }
  stats_.report(health);
  return health;
}

}  // namespace ranking::openvino
