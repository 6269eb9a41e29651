// 100,000 ranks with random faults, cancels and deadlines, from several threads at once: every rank has exactly one answer, the
// right one, and nothing of the ABI is left alive. RANKING_SOAK_RANKS sets another number, for slow machines such as valgrind.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <random>
#include <semaphore>
#include <thread>

#include "direct.h"
#include "fixture.h"
#include "trtmc/trtmc_task.h"

namespace ranking::trtmc {
namespace {

constexpr int kThreads = 4;

const std::vector<std::string> kFaults = {
    "status=1", "status=2", "status=3", "status=4", "status=5", "status=6",  "status=7", "status=8", "status=9",
    "silent=2", "silent=6", "silent=7", "silent=9", "view=2",   "view=7",    "count=1",  "count=-1", "nan",
    "inf",      "kind=0",   "kind=2",   "nothing",  "binary",   "status=99", "silent=1",
};

int ranks() {
  const char* told = getenv("RANKING_SOAK_RANKS");
  return told == nullptr ? 100000 : atoi(told);
}

struct Tally {
  std::atomic<int> answers{0}, scored{0}, wrong{0};
};

class Client {
 public:
  Client(Task& task, int number, Tally& tally, const std::vector<float>& wanted)
      : task_(task),
        random_(static_cast<uint32_t>(number)),
        next_(static_cast<Ticket>(number) << 32),
        tally_(tally),
        wanted_(wanted) {}

  void send_one(const RankRequest& plain) {
    places_.acquire();
    RankRequest rank = plain;
    const bool faulty = pick(3) == 0;
    if (faulty) rank.passages[pick(rank.passages.size())] = "double:" + kFaults[pick(kFaults.size())];
    const bool hurried = pick(8) == 0;
    if (hurried) rank.deadline = Clock::now() + std::chrono::microseconds(pick(300));
    const bool cancelled = pick(8) == 0;
    const Ticket ticket = ++next_;
    task_.submit(ticket, std::move(rank),
                 [this, faulty, sure = !faulty && !hurried && !cancelled](RankOutcome outcome) { check(outcome, faulty, sure); });
    if (cancelled) task_.cancel(ticket);
  }

 private:
  size_t pick(size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random_); }

  void check(const RankOutcome& outcome, bool faulty, bool sure) {
    const auto* answer = std::get_if<RankScores>(&outcome);
    if (answer != nullptr ? faulty || answer->scores != wanted_ : sure) ++tally_.wrong;
    if (answer != nullptr) ++tally_.scored;
    places_.release();
    ++tally_.answers;
  }

  Task& task_;
  std::mt19937 random_;
  Ticket next_;
  Tally& tally_;
  const std::vector<float>& wanted_;
  std::counting_semaphore<> places_{32};  // of all threads together fewer than the queue has, so that none is refused
};

TEST(Soak, RandomFaultsLeaveNothingBehindAndNoAnswerWrong) {
  const Folder folder;
  auto options = options_for(folder);
  options.replicas = 2;
  const RankRequest plain = request("which passage is right", {"this passage is right", "no", "which one", "is it this"});
  const auto wanted = Direct(double_root(), options.bundle).run(plain.query, plain.passages);
  const auto before = watch();
  Tally tally;
  {
    const auto task = make_trtmc_task(options);
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) clients.push_back(std::make_unique<Client>(*task, i + 1, tally, wanted));
    for (auto& client : clients) {
      threads.emplace_back([&] {
        for (int i = 0; i < ranks() / kThreads; ++i) client->send_one(plain);
      });
    }
    threads.clear();
    while (tally.answers < ranks() / kThreads * kThreads) std::this_thread::yield();
  }
  EXPECT_EQ(tally.answers, ranks() / kThreads * kThreads);
  EXPECT_GT(tally.scored, 0);
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_EQ(watch().models, before.models);
  EXPECT_EQ(watch().results, before.results);
  EXPECT_EQ(watch().errors, 0);
  EXPECT_EQ(watch().overlaps, 0u);
}

}  // namespace
}  // namespace ranking::trtmc
