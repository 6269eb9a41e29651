// Everything that happens before the first request: bundle, runtime, models, settings, warm-up, identity.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "task/task.h"
#include "trtmc/config.h"
#include "trtmc/figures.h"
#include "trtmc/options.h"
#include "trtmc/runner.h"
#include "trtmc/token_counter.h"

namespace ranking::trtmc {

struct Loaded {
  TaskInfo info;
  std::vector<std::pair<std::string, std::string>> details;  // see Task::details()
  std::unique_ptr<const Config> config;                      // the runners borrow from it
  std::vector<Runner> runners;                               // one per replica
  std::unique_ptr<const TokenCounter> tokens;                // null without --tokenizer
};

// Throws std::exception as make_trtmc_task() does. `figures` outlives what is returned.
Loaded load(const TrtmcOptions& options, Figures& figures);

}  // namespace ranking::trtmc
