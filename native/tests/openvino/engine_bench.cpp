// ranking-engine-bench: what the Task makes of the engine. For each workload it measures pairs a second through the whole Task
// (submit to completion) and of a bare loop of OpenVINO inference over the same batches, alternately in one run, and prints
// the ratio: of wall time, and of CPU time, which a busy machine disturbs less.
//
//   ranking-engine-bench MODEL_DIRECTORY [STREAMS [ROUNDS [BATCH_TOKENS [WORKLOAD]]]]   WORKLOAD: the start of its name
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string_view>
#include <thread>

#include "asking.h"
#include "openvino/batch_run.h"
#include "openvino/card.h"
#include "openvino/cpu.h"
#include "openvino/fair_queue.h"
#include "openvino/model_directory.h"
#include "openvino/openvino_engine.h"
#include "openvino/openvino_task.h"
#include "openvino/warm_up.h"

namespace {

using namespace ranking;
using namespace ranking::openvino;

struct Workload {
  const char* name;
  size_t requests;  // in flight together
  size_t passages;  // of each
  size_t min_words;
  size_t max_words;
};

constexpr Workload kWorkloads[] = {
    {"equal pairs, 100 words", 1, 64, 100, 100},
    {"W1: 32 passages of about 100 words, 4 at once", 4, 32, 80, 120},
    {"W2: 100 passages of 10 to 300 words", 1, 100, 10, 300},
    {"W3: 4 passages of 40 words", 1, 4, 40, 40},
};

std::vector<RankRequest> requests_of(const Workload& load) {
  const std::vector<std::string> words = {"river",   "bridge", "lantern", "glass", "seven",
                                          "harbour", "winter", "copper",  "stone", "window"};
  std::mt19937 random(1);
  std::vector<RankRequest> made;
  for (size_t i = 0; i < load.requests; ++i) {
    std::vector<std::string> passages;
    for (size_t j = 0; j < load.passages; ++j) {
      std::string text;
      for (size_t n = load.min_words + random() % (load.max_words - load.min_words + 1); n > 0; --n)
        text += words[random() % words.size()] + ' ';
      passages.push_back(text);
    }
    made.push_back(request_of(passages, "where is the copper lantern of the harbour", Truncate::kEnd));
  }
  return made;
}

struct Time {
  double wall, cpu;
};

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <typename Work>
Time measure(Work work) {
  const Time start{seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
  work();
  return {seconds(CLOCK_MONOTONIC) - start.wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - start.cpu};
}

void through_task(Task& task, const std::vector<RankRequest>& requests, Ticket& ticket) {
  std::vector<std::future<RankOutcome>> answers;
  for (const auto& request : requests) answers.push_back(submit(task, ticket++, request));
  for (auto& answer : answers) scores_of(std::move(answer));
}

double tokens_a_pair(const std::vector<Batch>& batches) {
  size_t tokens = 0, pairs = 0;
  for (const auto& batch : batches) {
    for (const auto& row : batch.rows) tokens += row.tokens().ids.size();
    pairs += batch.rows.size();
  }
  return static_cast<double>(tokens) / static_cast<double>(pairs);
}

std::vector<Batch> batches_of(const Tokenizer& tokenizer, const std::vector<RankRequest>& requests, size_t batch_tokens) {
  FairQueue queue(tokenizer.max_tokens());
  for (Ticket i = 0; i < requests.size(); ++i) {
    auto job = std::make_shared<Job>(i, requests[i], nullptr);
    const auto query = tokenizer.encode_query(requests[i].query, Truncate::kEnd);
    for (const auto& passage : requests[i].passages)
      job->pairs.push_back(tokenizer.encode_pair(query, passage, Truncate::kEnd, 0));
    queue.add(job);
  }
  std::vector<Batch> batches;
  while (!queue.empty()) batches.push_back(queue.take(batch_tokens));
  return batches;
}

// Each stream takes the next batch from the list; nothing else happens.
void bare(Engine& engine, const std::vector<Batch>& batches) {
  std::atomic<size_t> next = 0;
  std::vector<std::thread> streams;
  for (unsigned i = 0; i < engine.streams(); ++i) {
    streams.emplace_back([&, i] {
      BatchRun run(engine, i, 0);
      for (size_t at = next++; at < batches.size(); at = next++) run.run(batches[at]);
    });
  }
  for (auto& stream : streams) stream.join();
}

void bench(const OpenvinoOptions& options, unsigned rounds, std::string_view only) {
  const auto files = find_model(options.model);
  const auto card = read_card(files.card);
  const Tokenizer tokenizer(read_file(files.tokenizer), card.max_tokens);
  OpenvinoEngine engine({files.model, options.streams, options.threads, 500});
  warm_up(engine, card.max_tokens, options.batch_tokens, std::chrono::seconds(10));
  const auto task = make_openvino_task(options);
  Ticket ticket = 0;
  for (const auto& load : kWorkloads) {
    if (!std::string_view(load.name).starts_with(only)) continue;
    const auto requests = requests_of(load);
    const auto batches = batches_of(tokenizer, requests, options.batch_tokens);
    const auto pairs = static_cast<double>(load.requests * load.passages * rounds);
    through_task(*task, requests, ticket);
    bare(engine, batches);
    Time ours{}, raw{};
    for (unsigned i = 0; i < rounds; ++i) {
      const auto a = measure([&] { through_task(*task, requests, ticket); });
      const auto b = measure([&] { bare(engine, batches); });
      ours = {ours.wall + a.wall, ours.cpu + a.cpu};
      raw = {raw.wall + b.wall, raw.cpu + b.cpu};
    }
    std::printf(
        "%-48s %5.1f tokens/pair  Task %6.1f pairs/s  bare %6.1f pairs/s  ratio %.3f  CPU ms/pair %.3f bare %.3f ratio %.3f\n",
        load.name, tokens_a_pair(batches), pairs / ours.wall, pairs / raw.wall, raw.wall / ours.wall, ours.cpu / pairs * 1e3,
        raw.cpu / pairs * 1e3, raw.cpu / ours.cpu);
    std::fflush(stdout);
  }
}

unsigned argument(int argc, char** argv, int at, unsigned otherwise) {
  return argc > at ? static_cast<unsigned>(std::strtoul(argv[at], nullptr, 10)) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: %s MODEL_DIRECTORY [STREAMS [ROUNDS [BATCH_TOKENS [WORKLOAD]]]]\n", argv[0]), 2;
  OpenvinoOptions options;
  options.model = argv[1];
  options.streams = argument(argc, argv, 2, usable_cores());
  options.batch_tokens = argument(argc, argv, 4, options.batch_tokens);
  try {
    bench(options, argument(argc, argv, 3, 5), argc > 5 ? argv[5] : "");
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
