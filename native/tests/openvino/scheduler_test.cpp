// From submit to completion, with a fake engine: each answer once and its own, whatever happens beside it.
#include "openvino/scheduler.h"

#include <gtest/gtest.h>

#include <random>

#include "asking.h"
#include "fake_engine.h"
#include "word_tokenizer.h"

namespace ranking::openvino {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kMaxTokens = 300;

struct Bench {
  explicit Bench(SchedulerOptions options = {.tokenizer_threads = 2}, unsigned streams = 1)
      : engine(streams), tokenizer(word_tokenizer_json(), kMaxTokens), scheduler(engine, tokenizer, options) {}

  FakeEngine engine;
  Tokenizer tokenizer;
  Scheduler scheduler;
};

// What the fake engine gives for "w0" and n times "w<word>".
float expected(size_t n, int word) {
  std::vector<int64_t> ids = {204, 0, 205}, type_ids = {0, 0, 0};
  for (size_t i = 0; i < n; ++i) ids.push_back(word), type_ids.push_back(1);
  ids.push_back(205);
  type_ids.push_back(1);
  const std::vector<int64_t> mask(ids.size(), 1);
  return FakeEngine::score_of(ids.data(), mask.data(), type_ids.data(), ids.size());
}

bool running(const TaskHealth& health) { return health.running_batches > 0; }

TEST(Scheduler, ScoresInPassageOrderWithTokensAndTimes) {
  Bench bench;
  const auto before = Clock::now();
  const auto scores = scores_of(submit(bench.scheduler, 1, request_of({words(40), words(2, 5), "", words(40, 3)})));
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - before).count();
  EXPECT_EQ(scores.scores, (std::vector<float>{expected(40, 1), expected(2, 5), expected(0, 0), expected(40, 3)}));
  ASSERT_TRUE(scores.tokens);
  EXPECT_EQ(scores.tokens->per_pair, (std::vector<uint32_t>{44, 6, 4, 44}));
  EXPECT_EQ(scores.tokens->truncated, 0u);
  EXPECT_EQ(scores.tokens->padding, 4u + 10 + 12 + 4);
  EXPECT_EQ(scores.timing.batches, 2u);
  EXPECT_LE(scores.timing.tokenize_us, scores.timing.queue_us);
  EXPECT_LE(scores.timing.queue_us + scores.timing.public_task_call_wall_us, static_cast<uint64_t>(took));
}

TEST(Scheduler, ComputesIdenticalPassagesOnce) {
  Bench bench;
  const auto scores = scores_of(submit(bench.scheduler, 1, request_of({"w1", "w2", "w1", "w1", "w2"})));
  EXPECT_EQ(scores.scores, (std::vector<float>{expected(1, 1), expected(1, 2), expected(1, 1), expected(1, 1), expected(1, 2)}));
  EXPECT_EQ(scores.tokens->per_pair.size(), 5u);
  EXPECT_EQ(health_of(bench.scheduler).counters.at("pairs_total"), 2u);
}

TEST(Scheduler, SpreadsOneSmallRequestOverIdleStreams) {
  Bench bench({}, 2);
  scores_of(submit(bench.scheduler, 1, request_of({"w1", "w2", "w3", "w4"})));
  ASSERT_EQ(bench.engine.shapes.size(), 2u);
  EXPECT_EQ(bench.engine.shapes[0].rows, 2u);
  EXPECT_EQ(bench.engine.shapes[1].rows, 2u);
}

TEST(Scheduler, ManyRequestsAtOnceGetTheirOwnScores) {
  Bench bench({.tokenizer_threads = 3}, 3);
  std::vector<std::thread> clients;
  std::atomic<size_t> answers = 0;
  for (unsigned client = 0; client < 6; ++client) {
    clients.emplace_back([&, client] {
      std::mt19937 random(client);
      for (Ticket i = 0; i < 60; ++i) {
        std::vector<std::string> passages(1 + random() % 40);
        std::vector<float> want;
        for (auto& passage : passages) {
          const size_t n = random() % 200;
          const int word = static_cast<int>(random() % 200);
          passage = words(n, word);
          want.push_back(expected(n, word));
        }
        EXPECT_EQ(scores_of(submit(bench.scheduler, client * 1000 + i, request_of(passages))).scores, want);
        ++answers;
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(answers, 360u);
  const auto health = health_of(bench.scheduler);
  EXPECT_EQ(health.counters.at("calls_failed_total"), 0u);
  EXPECT_EQ(health.queued_tokens, 0u);
  EXPECT_EQ(health.queued_pairs, 0u);
}

TEST(Scheduler, OneBadRequestFailsAlone) {
  const auto f = [](const std::string& bad, ErrorCode code) {
    Bench bench;
    bench.engine.close();
    auto first = submit(bench.scheduler, 1, request_of({"w9"}));  // holds the stream, so that the next three share a batch
    wait_until(bench.scheduler, running);
    auto good = submit(bench.scheduler, 2, request_of({"w1"}));
    auto failing = submit(bench.scheduler, 3, request_of({"w1", bad, "w3"}));
    auto fine = submit(bench.scheduler, 4, request_of({"w2"}));
    wait_until(bench.scheduler, [](const TaskHealth& h) { return h.queued_pairs == 5; });
    bench.engine.open();
    EXPECT_EQ(scores_of(std::move(good)).scores, (std::vector<float>{expected(1, 1)}));
    EXPECT_EQ(scores_of(std::move(fine)).scores, (std::vector<float>{expected(1, 2)}));
    EXPECT_EQ(error_of(std::move(failing)).code, code) << bad;
    scores_of(std::move(first));
    EXPECT_EQ(scores_of(submit(bench.scheduler, 5, request_of({"w7"}))).scores, (std::vector<float>{expected(1, 7)}))
        << "it goes on";
    EXPECT_EQ(health_of(bench.scheduler).counters.at("calls_failed_total"), 1u) << bad;
  };
  f("throw", ErrorCode::kBackendFailed);
  f("oom", ErrorCode::kBackendUnavailable);
  f("nan", ErrorCode::kBackendFailed);
}

TEST(Scheduler, RefusesWhatItCannotServe) {
  Bench bench({.max_passages = 3});
  EXPECT_EQ(error_of(submit(bench.scheduler, 1, request_of({}))).code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(error_of(submit(bench.scheduler, 2, request_of({"a", "b", "c", "d"}))).code, ErrorCode::kInvalidRequest);
  auto late = request_of({"w1"});
  late.deadline = Clock::now();
  EXPECT_EQ(error_of(submit(bench.scheduler, 3, late)).code, ErrorCode::kDeadlineExceeded);
  EXPECT_EQ(bench.engine.calls, 0u);
}

TEST(Scheduler, NamesWhatIsTooLong) {
  const auto f = [](RankRequest request, uint32_t passage, uint32_t tokens, uint32_t offending) {
    Bench bench;
    const auto error = error_of(submit(bench.scheduler, 1, std::move(request)));
    EXPECT_EQ(error.code, ErrorCode::kInputTooLong);
    EXPECT_EQ(error.passage, passage);
    EXPECT_EQ(error.tokens, tokens);
    EXPECT_EQ(error.max_tokens, kMaxTokens);
    EXPECT_EQ(error.offending, offending);
    EXPECT_EQ(bench.engine.calls, 0u);
  };
  f(request_of({"w1", words(297), words(296), words(400)}), 1, 301, 2);
  f(request_of({"w1", words(100'000), "w1", words(100'000)}), 1, 100'004, 2);
  f(request_of({"w1", "w2"}, words(50'000)), 0, 50'004, 2);
  auto limited = request_of({words(100'000)}, words(200));
  limited.max_passage_tokens = 150;
  f(std::move(limited), 0, 353, 1);
}

TEST(Scheduler, CutsToExactlyTheLimit) {
  const auto f = [](size_t passage_words, std::optional<uint32_t> limit, uint32_t tokens, uint32_t truncated) {
    for (const auto side : {Truncate::kEnd, Truncate::kStart}) {
      Bench bench;
      auto request = request_of({words(passage_words)}, "w0", side);
      request.max_passage_tokens = limit;
      const auto scores = scores_of(submit(bench.scheduler, 1, std::move(request)));
      EXPECT_EQ(scores.tokens->per_pair, std::vector<uint32_t>{tokens});
      EXPECT_EQ(scores.tokens->truncated, truncated);
      EXPECT_EQ(scores.scores, std::vector<float>{expected(tokens - 4, 1)});
    }
  };
  f(296, std::nullopt, 300, 0);
  f(297, std::nullopt, 300, 1);
  f(1'000'000, std::nullopt, 300, 1);
  f(10, 10, 14, 0);
  f(11, 10, 14, 1);
  f(1'000'000, 10, 14, 1);
  f(1'000'000, 100'000, 300, 1);
}

TEST(Scheduler, FullQueueRefusesAtOnceAndTellsWhen) {
  Bench bench({.queue_tokens = 1000});
  bench.engine.close();
  auto running_one = submit(bench.scheduler, 1, request_of({"w1"}));
  wait_until(bench.scheduler, running);
  auto larger_than_the_queue =
      submit(bench.scheduler, 2, request_of({words(290, 1), words(290, 2), words(290, 3), words(290, 4)}));
  wait_until(bench.scheduler, [](const TaskHealth& h) { return h.queued_tokens == 4 * 294; });
  const auto busy = error_of(submit(bench.scheduler, 3, request_of({"w1"})));
  EXPECT_EQ(busy.code, ErrorCode::kServerBusy);
  EXPECT_GE(busy.retry_after_ms.value_or(0), 1u);
  bench.engine.open();
  EXPECT_EQ(scores_of(std::move(larger_than_the_queue)).scores.size(), 4u) << "accepted, since nothing waited";
  scores_of(std::move(running_one));
  EXPECT_EQ(scores_of(submit(bench.scheduler, 4, request_of({"w1"}))).scores.size(), 1u);
}

// A batch on the fake engine takes as long as the gate is closed: 5 tokens in 50 ms at least are at most 100 a second, so ten
// seconds of work are at most 1000 tokens.
TEST(Scheduler, QueueIsBoundedByTimeForEachSizeByItself) {
  Bench bench({.batch_tokens = 16, .queue_seconds = 10});
  const auto long_request = [] {
    std::vector<std::string> passages;
    for (int i = 0; i < 8; ++i) passages.push_back(words(290, i));
    return request_of(passages);
  };
  bench.engine.close();
  auto first = submit(bench.scheduler, 1, request_of({"w1"}));
  wait_until(bench.scheduler, running);
  std::this_thread::sleep_for(50ms);
  auto long_one = submit(bench.scheduler, 2, long_request());
  wait_until(bench.scheduler, [](const TaskHealth& h) { return h.queued_tokens == 8 * 294; });
  bench.engine.open(1);
  scores_of(std::move(first));
  wait_until(bench.scheduler, [](const TaskHealth& h) { return h.running_batches == 1 && h.queued_tokens == 7 * 294; });
  const auto busy = error_of(submit(bench.scheduler, 3, long_request()));
  EXPECT_EQ(busy.code, ErrorCode::kServerBusy);
  EXPECT_GT(busy.retry_after_ms.value_or(0), 7000u) << "some 700 tokens too many, at 100 a second or less";
  auto short_one = submit(bench.scheduler, 4, request_of({"w4"}));
  wait_until(bench.scheduler, [](const TaskHealth& h) { return h.queued_requests == 2; });
  bench.engine.open();
  EXPECT_EQ(scores_of(std::move(short_one)).scores.size(), 1u) << "little is ahead of it, whatever waits behind";
  EXPECT_EQ(scores_of(std::move(long_one)).scores.size(), 8u);
}

TEST(Scheduler, CancelDropsQueuedPairs) {
  Bench bench({.batch_tokens = 16});
  bench.engine.close();
  std::vector<std::string> passages;
  for (int i = 0; i < 100; ++i) passages.push_back(words(1, i));
  auto answer = submit(bench.scheduler, 1, request_of(passages));
  wait_until(bench.scheduler, running);
  bench.scheduler.cancel(1);
  bench.scheduler.cancel(1);
  bench.scheduler.cancel(77);
  EXPECT_EQ(error_of(std::move(answer)).code, ErrorCode::kCancelled);
  const auto health = health_of(bench.scheduler);
  EXPECT_EQ(health.queued_pairs, 0u);
  EXPECT_EQ(health.queued_tokens, 0u);
  bench.engine.open();
  scores_of(submit(bench.scheduler, 2, request_of({"w1"})));
  EXPECT_EQ(bench.engine.calls, 2u) << "the batch that ran, and the next request";
}

TEST(Scheduler, DeadlineIsAnsweredWhileTheEngineHangs) {
  Bench bench;
  bench.engine.close();
  auto request = request_of({"w1"});
  Ticket ticket = 1;
  for (auto patience = 50ms; !running(health_of(bench.scheduler)); patience *= 2) {  // until it is enough for the call to start
    request.deadline = Clock::now() + patience;
    EXPECT_EQ(error_of(submit(bench.scheduler, ticket++, request)).code, ErrorCode::kDeadlineExceeded);
  }
  request.deadline = Clock::now() + 50ms;
  EXPECT_EQ(error_of(submit(bench.scheduler, ticket++, request)).code, ErrorCode::kDeadlineExceeded) << "behind the hung call";
  wait_until(bench.scheduler, [](const TaskHealth& h) { return h.oldest_call_ms >= 40; });  // a hung call shows in the health
  bench.engine.open();
  scores_of(submit(bench.scheduler, ticket, request_of({"w3"})));
  EXPECT_EQ(bench.engine.calls, 2u) << "what was past its deadline is not computed";
}

TEST(Scheduler, DrainFinishesWhatIsAcceptedAndRefusesTheRest) {
  Bench bench;
  bench.engine.close();
  auto accepted = submit(bench.scheduler, 1, request_of({"w1"}));
  wait_until(bench.scheduler, running);
  bench.scheduler.drain();
  EXPECT_EQ(error_of(submit(bench.scheduler, 2, request_of({"w1"}))).code, ErrorCode::kBackendUnavailable);
  EXPECT_FALSE(health_of(bench.scheduler).ready);
  bench.engine.open();
  EXPECT_EQ(scores_of(std::move(accepted)).scores.size(), 1u);
}

TEST(Scheduler, DestructionAnswersEverything) {
  std::vector<std::future<RankOutcome>> answers;
  {
    Bench bench({.tokenizer_threads = 2, .batch_tokens = 16});
    for (Ticket i = 0; i < 50; ++i) answers.push_back(submit(bench.scheduler, i, request_of({"w1", words(3), words(200)})));
  }
  for (auto& answer : answers) {
    const auto outcome = answer.get();
    const auto* error = std::get_if<RankError>(&outcome);
    EXPECT_TRUE(!error || error->code == ErrorCode::kBackendUnavailable);
  }
}

TEST(Scheduler, HistogramsFollowTheProtocol) {
  Bench bench;
  scores_of(submit(bench.scheduler, 1, request_of({"w1", "w2", "w3"})));
  const auto health = health_of(bench.scheduler);
  EXPECT_EQ(health.histograms.at("batch_pairs"), (std::vector<uint64_t>{0, 0, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(health.histograms.at("batch_tokens"), (std::vector<uint64_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(health.histograms.at("call_us").size(), 15u);
  EXPECT_EQ(health.histograms.at("call_us").back(), 1u);
}

}  // namespace
}  // namespace ranking::openvino
