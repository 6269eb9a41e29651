#include "check.h"

#include <chrono>
#include <future>
#include <iomanip>
#include <limits>
#include <memory>
#include <string_view>

#include "ipc/messages.h"

namespace ranking {
namespace {

class Lines {
 public:
  explicit Lines(std::ostream& out) : out_(out) {
    out_ << std::left << std::setprecision(std::numeric_limits<float>::max_digits10);
  }

  template <typename T>
  void line(std::string_view name, const T& value) {
    out_ << std::setw(20) << name << ' ' << value << '\n';
  }

 private:
  std::ostream& out_;
};

void print_identity(Lines& lines, const TaskInfo& info) {
  lines.line("task", info.task + " " + info.task_version);
  lines.line("model", info.model);
  lines.line("revision", info.revision);
  lines.line("family", info.family);
  lines.line("backend", info.backend);
  lines.line("precision", info.precision);
  lines.line("bundle_digest", info.bundle_digest);
  lines.line("score_kind", ipc::score_kind_name(info.score_kind));
  lines.line("max_tokens", info.max_tokens);
  lines.line("max_passages", info.max_passages);
  lines.line("pointwise", info.pointwise ? "yes" : "no");
}

void print_scores(Lines& lines, const RankScores& scores) {
  for (const float score : scores.scores) lines.line("score", score);
  if (scores.tokens) {
    for (const uint32_t tokens : scores.tokens->per_pair) lines.line("tokens", tokens);
  }
  lines.line("queue_us", scores.timing.queue_us);
  lines.line("task_call_us", scores.timing.public_task_call_wall_us);
}

RankRequest built_in_pair() {
  RankRequest request;
  request.id = "check";
  request.query = "When does the harbour freeze?";
  request.passages = {"In most years ice closes the harbour from the middle of January until early March."};
  return request;
}

}  // namespace

bool check(Task& task, std::ostream& out) {
  Lines lines(out);
  print_identity(lines, task.info());
  for (const auto& [name, value] : task.details()) lines.line(name, value);

  // Shared with the completion, which may come after the minute.
  auto answered = std::make_shared<std::promise<RankOutcome>>();
  auto answer = answered->get_future();
  task.submit(1, built_in_pair(), [answered](RankOutcome outcome) { answered->set_value(std::move(outcome)); });
  if (answer.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
    lines.line("error", "no answer within a minute");
    return false;
  }
  const RankOutcome outcome = answer.get();
  if (const auto* error = std::get_if<RankError>(&outcome)) {
    lines.line("error", std::string(ipc::code_name(error->code)) + ": " + error->message);
    return false;
  }
  print_scores(lines, std::get<RankScores>(outcome));
  return true;
}

}  // namespace ranking
