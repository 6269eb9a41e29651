// The runs of one job on one model.
#pragma once

#include "task/task.h"
#include "trtmc/config.h"
#include "trtmc/figures.h"
#include "trtmc/job.h"
#include "trtmc/model.h"

namespace ranking::trtmc {

// One loaded model with what every run on it needs. One thread at a time.
class Runner {
 public:
  // Does a first run, over built-in texts, so that the model is warm and the kind of its scores known. Throws as Model's runs do.
  Runner(Model model, const Config& config, Figures& figures);

  const ModelFacts& facts() const { return model_.facts(); }
  bool pairwise() const { return model_.pairwise(); }
  abi::ScoreKind score_kind() const { return kind_; }

  // All documents in one run, or one run per document if pairwise(); between those a cancelled or late job stops. Never throws: a
  // run that fails is an error that names it, and the model goes on.
  RankOutcome rank(Job& job);

 private:
  Scores run_all(const Job& job);
  Scores run_each(const Job& job, uint32_t& document);
  template <typename Run>
  Scores counted(size_t documents, Run run);
  RankScores answer(Job& job, Scores scores) const;

  Model model_;
  const Config& config_;
  Figures& figures_;
  abi::ScoreKind kind_;
};

}  // namespace ranking::trtmc
