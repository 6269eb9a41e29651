// A Task without a model: what is left when the scoring costs nothing. For benchmarks of everything else, and for tests of
// overload, deadlines, cancellation and drain through real processes.
//
// Threads. One, which is its whole scheduling part: it starts calls one at a time, ends each after the delay, and runs every
// completion and health reply. The callers of submit(), cancel() and drain() only put things into its queue under a mutex.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "null/options.h"
#include "task/task.h"

namespace ranking {

class NullTask final : public Task {
 public:
  explicit NullTask(const NullOptions& options);
  // Answers what is still accepted with backend_unavailable.
  ~NullTask() override;

  const TaskInfo& info() const override { return info_; }
  void submit(Ticket ticket, RankRequest request, Completion done) override;
  void cancel(Ticket ticket) override;
  void health(HealthReply reply) override;
  void drain() override;

 private:
  struct Job {
    Ticket ticket;
    RankRequest request;
    Completion done;
    Clock::time_point submitted;
  };
  // The one call that runs. Its outcome is computed when it starts and delivered when it ends.
  struct Call {
    Completion done;
    RankOutcome outcome;
    std::optional<Clock::time_point> deadline;
    Clock::time_point submitted;
    Clock::time_point started;
    Clock::time_point ends;
  };
  // What callers have left for the thread.
  struct Inbox {
    std::vector<std::pair<Completion, RankError>> refused;
    std::vector<HealthReply> pings;
  };

  void refuse(Completion done, RankError error);
  RankError busy() const;

  void run();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  std::optional<Job> next_job();
  void start(Job job);
  void finish();
  TaskHealth snapshot() const;

  const NullOptions options_;
  const TaskInfo info_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> queue_;
  Inbox inbox_;
  bool draining_ = false;
  bool stopping_ = false;

  // Of the thread alone.
  std::optional<Call> call_;
  uint64_t calls_ = 0;
  uint64_t pairs_ = 0;

  std::thread thread_;  // last: it uses all of the above
};

std::unique_ptr<Task> make_null_task(const NullOptions& options);

}  // namespace ranking
