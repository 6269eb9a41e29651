#include "trtmc/trtmc_task.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <thread>

#include "trtmc/job_queue.h"
#include "trtmc/load.h"
#include "trtmc/token_counter.h"

namespace ranking {
namespace trtmc {
namespace {

RankError error(ErrorCode code, std::string message) {
  RankError made;
  made.code = code;
  made.message = std::move(message);
  return made;
}

// Threads: one per model; one that counts tokens, if there is a tokenizer; one clerk that answers for jobs that never ran and for
// health.
class TrtmcTask : public Task {
 public:
  TrtmcTask(const TrtmcOptions& options, std::unique_ptr<Figures> figures, Loaded loaded);
  ~TrtmcTask() override;

  const TaskInfo& info() const override { return loaded_.info; }
  std::vector<std::pair<std::string, std::string>> details() const override { return loaded_.details; }
  void submit(Ticket ticket, RankRequest request, Completion done) override;
  void cancel(Ticket ticket) override { queue_.cancel(ticket); }
  void health(HealthReply reply) override { queue_.inquire(std::move(reply)); }
  void drain() override { queue_.drain(); }

 private:
  std::optional<RankError> refusal(const RankRequest& request) const;
  void run(Runner& runner);
  void count();
  void tell();
  TaskHealth health_of(const JobQueue::Load& load) const;
  void answer(Job& job, RankOutcome outcome);

  const std::unique_ptr<Figures> figures_;
  Loaded loaded_;
  JobQueue queue_;
  std::vector<std::thread> workers_;
  std::thread clerk_;
};

TrtmcTask::TrtmcTask(const TrtmcOptions& options, std::unique_ptr<Figures> figures, Loaded loaded)
    : figures_(std::move(figures)),
      loaded_(std::move(loaded)),
      queue_({options.queue_requests, options.queue_passages}, loaded_.tokens != nullptr) {
  for (auto& runner : loaded_.runners) workers_.emplace_back([this, &runner] { run(runner); });
  if (loaded_.tokens) workers_.emplace_back([this] { count(); });
  clerk_ = std::thread([this] { tell(); });
}

TrtmcTask::~TrtmcTask() {
  queue_.close();
  for (auto& worker : workers_) worker.join();
  clerk_.join();
}

void TrtmcTask::submit(Ticket ticket, RankRequest request, Completion done) {
  auto job = std::make_shared<Job>(ticket, std::move(request), std::move(done));
  auto refused = refusal(job->request);
  if (!refused) refused = queue_.push(job);
  if (refused) answer(*job, std::move(*refused));
}

std::optional<RankError> TrtmcTask::refusal(const RankRequest& request) const {
  const size_t passages = request.passages.size();
  if (passages == 0) return error(ErrorCode::kInvalidRequest, "there are no passages");
  if (passages > info().max_passages) {
    return error(ErrorCode::kInvalidRequest,
                 std::to_string(passages) + " passages are over the limit of " + std::to_string(info().max_passages));
  }
  if (request.max_passage_tokens && !loaded_.tokens) {
    return error(ErrorCode::kInvalidRequest, "this Task does not count tokens, so it cannot cut passages to a number of them");
  }
  return std::nullopt;
}

void TrtmcTask::run(Runner& runner) {
  while (const JobPtr job = queue_.next_to_run()) {
    RankOutcome outcome = runner.rank(*job);
    queue_.finish(job);
    answer(*job, std::move(outcome));
  }
}

void TrtmcTask::count() {
  while (const JobPtr job = queue_.next_to_count()) {
    const auto started = Clock::now();
    std::variant<TokenCounts, RankError> measured;
    try {
      measured = loaded_.tokens->measure(job->request);
    } catch (const std::bad_alloc&) {
      measured = error(ErrorCode::kBackendUnavailable, "out of memory while tokenizing");
    } catch (const std::exception& failure) {
      measured = error(ErrorCode::kBackendFailed, failure.what());
    }
    job->tokenize_us =
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - started).count());
    if (auto* counts = std::get_if<TokenCounts>(&measured)) {
      job->tokens = std::move(*counts);
      queue_.counted(job);
    } else if (queue_.abandon(job)) {
      answer(*job, std::get<RankError>(std::move(measured)));
    }
  }
}

void TrtmcTask::tell() {
  for (;;) {
    auto errands = queue_.wait();
    for (auto& [job, why] : errands.abandoned) answer(*job, std::move(why));
    for (auto& reply : errands.inquiries) reply(health_of(errands.load));
    if (errands.closed) return;
  }
}

TaskHealth TrtmcTask::health_of(const JobQueue::Load& load) const {
  TaskHealth health;
  health.ready = !load.draining;
  health.oldest_call_ms = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(load.oldest_run).count());
  health.queued_requests = load.requests;
  health.queued_pairs = load.documents;
  health.queued_tokens = load.tokens;
  health.running_batches = load.running;
  figures_->report(health);
  health.gauges["replicas"] = loaded_.runners.size();
  return health;
}

void TrtmcTask::answer(Job& job, RankOutcome outcome) {
  auto* failure = std::get_if<RankError>(&outcome);
  if (failure != nullptr && failure->code == ErrorCode::kServerBusy) {
    // A place becomes free when the next of the models ends its run.
    const auto run = std::chrono::duration_cast<std::chrono::milliseconds>(figures_->typical_run()).count();
    failure->retry_after_ms = static_cast<uint32_t>(run / static_cast<int64_t>(loaded_.runners.size()) + 1);
  }
  job.done(std::move(outcome));
}

}  // namespace
}  // namespace trtmc

std::unique_ptr<Task> make_trtmc_task(const TrtmcOptions& options) {
  auto figures = std::make_unique<trtmc::Figures>();
  auto loaded = trtmc::load(options, *figures);
  return std::make_unique<trtmc::TrtmcTask>(options, std::move(figures), std::move(loaded));
}

}  // namespace ranking
