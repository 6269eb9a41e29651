// Admission, order and answers: everything between submit() and the completion, decided on one thread.
//
//   submit -> [inbox] -> admit -> tokenizing stage -> [inbox] -> FairQueue -> batch -> worker -> [inbox] -> answer
//
// All state belongs to the scheduler's thread, which takes events from one inbox; the stages run on their own threads and only
// post. So there is one lock, held for a push, and a ping is answered by the thread that starts batches.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "openvino/engine.h"
#include "openvino/fair_queue.h"
#include "openvino/job.h"
#include "openvino/stats.h"
#include "openvino/tokenizer.h"
#include "openvino/tokenizing.h"
#include "openvino/workers.h"
#include "task/task.h"

namespace ranking::openvino {

struct SchedulerOptions {
  unsigned tokenizer_threads = 1;
  size_t batch_tokens = 256;       // of one batch, padding included
  uint64_t queue_tokens = 524288;  // accepted and not yet started
  double queue_seconds = 0;        // to the answer of a new request, at the speed of late; 0: any
  uint32_t max_passages = 512;
};

class Scheduler {
 public:
  // Engine and tokenizer must outlive the scheduler.
  Scheduler(Engine& engine, const Tokenizer& tokenizer, const SchedulerOptions& options);
  // Answers what is unanswered with backend_unavailable.
  ~Scheduler();

  // As in Task.
  void submit(Ticket ticket, RankRequest request, Completion done);
  void cancel(Ticket ticket);
  void health(HealthReply reply);
  void drain();

 private:
  using Event = std::function<void()>;

  void post(Event event);
  void run();
  std::deque<Event> wait();

  void admit(const JobPtr& job);
  std::optional<RankError> refusal(const Job& job) const;
  uint64_t excess_of(uint64_t tokens) const;
  uint64_t ahead_of(uint64_t tokens) const;
  uint32_t retry_after_ms(uint64_t excess) const;
  void enqueue(const JobPtr& job);
  void start_batches();
  void expire();
  void collect(const BatchResult& result);
  void collect_row(const BatchResult& result, size_t row);
  void answer(const JobPtr& job, RankOutcome outcome);
  void forget(const JobPtr& job);
  TaskHealth report() const;
  bool unanswered(const Job& job) const { return jobs_.contains(job.ticket); }

  const uint32_t special_tokens_;
  const SchedulerOptions options_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Event> inbox_;
  bool stopping_ = false;

  // Of the scheduler's thread from here on.
  std::unordered_map<Ticket, JobPtr> jobs_;  // unanswered
  std::set<std::pair<Clock::time_point, Ticket>> deadlines_;
  FairQueue queue_;
  uint64_t queued_tokens_ = 0;  // an estimate for those in the tokenizing stage
  size_t tokenizing_jobs_ = 0;  // with the tokenizing stage, abandoned ones included
  size_t tokenizing_pairs_ = 0;
  std::vector<unsigned> idle_;                                   // streams
  std::vector<std::optional<Clock::time_point>> running_since_;  // by stream
  Stats stats_;
  bool draining_ = false;

  Workers workers_;
  Tokenizing tokenizing_;
  std::thread thread_;
};

}  // namespace ranking::openvino
