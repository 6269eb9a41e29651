// The bounded queue between those who submit ranks and the models that run them.
//
// A job is pushed, counted (if this Task counts tokens), taken to run, and finished. Until it is taken it can leave through
// cancel(), a passed deadline or close(); such a job becomes an errand for the clerk, the one thread that tells people what no
// model's thread is free to tell. Every job that push() accepted leaves in exactly one of three ways: abandon() returning true,
// next_to_run(), an errand.
//
// May be used from any thread; nothing of a caller runs under the lock.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "task/task.h"
#include "trtmc/job.h"

namespace ranking::trtmc {

using JobPtr = std::shared_ptr<Job>;

class JobQueue {
 public:
  struct Bounds {
    size_t requests;   // waiting, not those that run
    size_t documents;  // of the waiting requests together
  };

  // Who waits and who runs, at one moment.
  struct Load {
    bool draining = false;
    size_t requests = 0;
    size_t documents = 0;
    size_t tokens = 0;  // of waiting jobs that have been counted
    size_t running = 0;
    Clock::duration oldest_run{};
  };

  struct Errands {
    std::vector<std::pair<JobPtr, RankError>> abandoned;
    std::vector<HealthReply> inquiries;
    Load load;
    bool closed = false;  // nothing will follow
  };

  JobQueue(Bounds bounds, bool counting) : bounds_(bounds), arrival_(counting ? Stage::kArrived : Stage::kReady) {}

  // Takes the job, or returns why not: full, draining, or its deadline has passed.
  std::optional<RankError> push(JobPtr job);

  // The oldest job that nobody counts yet; waits for one. Null after close().
  JobPtr next_to_count();
  // Back from counting: ready to run, unless it has left meanwhile.
  void counted(const JobPtr& job);
  // Takes a waiting job out. True if it was still there: the caller answers it.
  bool abandon(const JobPtr& job);

  // The oldest ready job, from now on running; waits for one. Null after close().
  JobPtr next_to_run();
  // After the run, before the answer.
  void finish(const JobPtr& job);

  void cancel(Ticket ticket);
  void drain();
  // Abandons what waits; next_to_count() and next_to_run() return null from now on.
  void close();

  // For the clerk: the reply is given by whoever calls wait().
  void inquire(HealthReply reply);
  // Waits until there is something to tell.
  Errands wait();

 private:
  enum class Stage { kArrived, kCounting, kReady };
  struct Waiting {
    JobPtr job;
    Stage stage;
  };
  struct Running {
    JobPtr job;
    Clock::time_point since;
  };
  using Place = std::list<Waiting>::iterator;

  Place first(Stage stage);
  Place find(const JobPtr& job);
  void leave(Place place);
  void give_up(Place place, ErrorCode code, const char* why);
  void give_up_late(Clock::time_point now);
  std::optional<Clock::time_point> earliest_deadline() const;
  Load load(Clock::time_point now) const;

  const Bounds bounds_;
  const Stage arrival_;
  mutable std::mutex mutex_;
  std::condition_variable to_count_, to_run_, to_tell_;
  std::list<Waiting> waiting_;  // in order of arrival; never longer than the bound, so it is searched from the front
  std::vector<Running> running_;
  size_t waiting_documents_ = 0;
  size_t idle_runners_ = 0;
  std::vector<std::pair<JobPtr, RankError>> abandoned_;
  std::vector<HealthReply> inquiries_;
  bool draining_ = false;
  bool closed_ = false;
};

}  // namespace ranking::trtmc
