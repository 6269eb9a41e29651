#include "openvino/openvino_task.h"

#include <future>
#include <string>

#include "openvino/card.h"
#include "openvino/cpu.h"
#include "openvino/model_directory.h"
#include "openvino/openvino_engine.h"
#include "openvino/scheduler.h"
#include "openvino/warm_up.h"
#include "task/digest.h"

namespace ranking {
namespace {

using namespace openvino;

constexpr std::chrono::milliseconds kWarmUp{1500};

// All defaults decided.
OpenvinoOptions resolve(OpenvinoOptions options) {
  if (options.streams == 0) options.streams = std::max(1u, usable_cores() / options.threads);
  if (options.tokenizer_threads == 0) options.tokenizer_threads = options.streams;
  return options;
}

TaskInfo identity(const Card& card, const OpenvinoOptions& options, std::string digest) {
  TaskInfo info;
  info.model = card.id;
  info.revision = card.revision;
  info.family = card.family;
  info.backend = "openvino";
  info.precision = card.precision;
  info.bundle_digest = std::move(digest);
  info.score_kind = card.score_kind;
  info.max_tokens = card.max_tokens;
  info.max_passages = options.max_passages;
  return info;
}

class OpenvinoTask final : public Task {
 public:
  OpenvinoTask(const OpenvinoOptions& options, const ModelDirectory& files, const Card& card)
      : options_(options),
        tokenizer_(read_file(files.tokenizer), card.max_tokens),
        engine_({files.model, options.streams, options.threads, options.shape_cache, options.background_inference}),
        warm_shapes_(warm_up(engine_, card.max_tokens, options.batch_tokens, kWarmUp)),
        scheduler_(engine_, tokenizer_,
                   {options.tokenizer_threads, options.batch_tokens, options.queue_tokens, options.queue_seconds,
                    options.max_passages}) {}

  const TaskInfo& info() const override { return info_; }
  void set_info(TaskInfo info) { info_ = std::move(info); }

  std::vector<std::pair<std::string, std::string>> details() const override {
    return {{"engine", openvino_version()},
            {"device", engine_.device()},
            {"isa", best_isa()},
            {"streams", std::to_string(options_.streams)},
            {"threads_per_stream", std::to_string(options_.threads)},
            {"tokenizer_threads", std::to_string(options_.tokenizer_threads)},
            {"batch_tokens", std::to_string(options_.batch_tokens)},
            {"queue_tokens", std::to_string(options_.queue_tokens)},
            {"queue_seconds", std::to_string(options_.queue_seconds)},
            {"shape_cache", std::to_string(options_.shape_cache)},
            {"background_inference", options_.background_inference ? "yes" : "no"},
            {"warm_shapes", std::to_string(warm_shapes_)}};
  }

  void submit(Ticket ticket, RankRequest request, Completion done) override {
    scheduler_.submit(ticket, std::move(request), std::move(done));
  }
  void cancel(Ticket ticket) override { scheduler_.cancel(ticket); }
  void health(HealthReply reply) override { scheduler_.health(std::move(reply)); }
  void drain() override { scheduler_.drain(); }

 private:
  const OpenvinoOptions options_;
  TaskInfo info_;
  Tokenizer tokenizer_;
  OpenvinoEngine engine_;
  size_t warm_shapes_;
  Scheduler scheduler_;
};

}  // namespace

std::unique_ptr<Task> make_openvino_task(const OpenvinoOptions& given) {
  const auto options = resolve(given);
  const auto files = find_model(options.model);
  const auto card = read_card(files.card);
  // Hashing takes as long as compiling: side by side.
  auto digest = std::async(std::launch::async, [&] { return files_digest(files.served); });
  auto task = std::make_unique<OpenvinoTask>(options, files, card);
  task->set_info(identity(card, options, digest.get()));
  return task;
}

}  // namespace ranking
