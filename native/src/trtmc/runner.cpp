#include "trtmc/runner.h"

#include <stdexcept>
#include <utility>

#include "trtmc/outcome.h"

namespace ranking::trtmc {
namespace {

// Thrown between the runs of a pairwise job.
struct Stopped {
  ErrorCode code;
  const char* message;
};

constexpr Stopped kCancelled{ErrorCode::kCancelled, "cancelled by the client"};
constexpr Stopped kLate{ErrorCode::kDeadlineExceeded, "the deadline passed before the answer was complete"};

RankError stopped(const Stopped& stop) {
  RankError error;
  error.code = stop.code;
  error.message = stop.message;
  return error;
}

uint64_t microseconds(Clock::duration duration) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

}  // namespace

Runner::Runner(Model model, const Config& config, Figures& figures)
    : model_(std::move(model)), config_(config), figures_(figures) {
  const std::string query = "what is a ranking model for";
  const std::vector<std::string> documents = {"It orders passages by how well they answer a query.",
                                              "Tea is best brewed for four minutes."};
  kind_ = pairwise() ? model_.run_pair(query, documents[0], config_.view()).kind
                     : model_.run_documents(query, documents, config_.view()).kind;
}

RankOutcome Runner::rank(Job& job) {
  uint32_t document = 0;
  const auto placed = [&](RankError error) {
    if (pairwise()) error.passage = document;
    return error;
  };
  try {
    Scores scores = pairwise() ? run_each(job, document) : run_all(job);
    if (scores.kind != kind_) throw std::runtime_error("run: the kind of the scores is not that of the first run");
    if (job.late(Clock::now())) return stopped(kLate);
    return answer(job, std::move(scores));
  } catch (const Stopped& stop) {
    return stopped(stop);
  } catch (const CallError& failure) {
    return placed(run_error(failure));
  } catch (const std::exception& failure) {
    return placed(run_error(failure));
  }
}

Scores Runner::run_all(const Job& job) {
  const auto& documents = job.request.passages;
  return counted(documents.size(), [&] { return model_.run_documents(job.request.query, documents, config_.view()); });
}

Scores Runner::run_each(const Job& job, uint32_t& document) {
  Scores all;
  for (document = 0; document < job.request.passages.size(); ++document) {
    if (job.cancelled) throw kCancelled;
    if (job.late(Clock::now())) throw kLate;
    const Scores one =
        counted(1, [&] { return model_.run_pair(job.request.query, job.request.passages[document], config_.view()); });
    if (document == 0) all = {{}, one.kind, one.started, one.ended};
    if (one.kind != all.kind) throw std::runtime_error("run: the kind of the scores changed between two documents");
    all.values.push_back(one.values.front());
    all.ended = one.ended;
  }
  return all;
}

template <typename Run>
Scores Runner::counted(size_t documents, Run run) {
  const auto started = Clock::now();
  try {
    Scores scores = run();
    figures_.count_run(documents, scores.ended - scores.started, true);
    return scores;
  } catch (...) {
    figures_.count_run(documents, Clock::now() - started, false);
    throw;
  }
}

RankScores Runner::answer(Job& job, Scores scores) const {
  RankTiming timing;
  timing.queue_us = microseconds(scores.started - job.admitted);
  timing.tokenize_us = job.tokenize_us;
  timing.public_task_call_wall_us = microseconds(scores.ended - scores.started);
  timing.batches = static_cast<uint32_t>(pairwise() ? scores.values.size() : 1);
  return {std::move(scores.values), std::move(job.tokens), timing};
}

}  // namespace ranking::trtmc
