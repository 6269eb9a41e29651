// One loaded model of a TRTMC bundle, and its runs. Not thread-safe: one call at a time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "task/clock.h"
#include "trtmc/abi.h"
#include "trtmc/config.h"
#include "trtmc/handles.h"
#include "trtmc/options.h"

namespace ranking::trtmc {

// What the runtime says of a loaded model. Copied, so that it outlives the model.
struct ModelFacts {
  std::string family;
  std::string backend;
  std::string declared_task;       // of the bundle, such as "reranking"
  std::vector<std::string> tasks;  // on offer, such as "text_query_documents_to_relevance 1.0"
  std::vector<Control> controls;   // of the Task served
};

// The answer of one run, checked: as many scores as documents, every one finite, of a kind that version 1.0 knows.
struct Scores {
  std::vector<float> values;  // in the order of the documents
  abi::ScoreKind kind = abi::ScoreKind::kLogit;
  Clock::time_point started;  // of the run call alone
  Clock::time_point ended;
};

class Model {
 public:
  // Loads the bundle, refuses what is not a reranker and finds its Task by id and version. Throws CallError if the runtime fails,
  // std::runtime_error if it lacks the Task (what it offers is listed) or only has the Task for pairs and options do not allow
  // that.
  Model(const abi::CoreApi& core, const TrtmcOptions& options);

  const ModelFacts& facts() const { return facts_; }
  bool pairwise() const { return pairs_ != nullptr; }

  // One run over all documents, or over one. Throws CallError if the run fails and std::runtime_error if what it returns is not
  // an answer. run_pair() is for a pairwise() model, run_documents() for any other.
  Scores run_documents(std::string_view query, std::span<const std::string> documents, const abi::ConfigView* config) const;
  Scores run_pair(std::string_view query, std::string_view document, const abi::ConfigView* config) const;

 private:
  void read_facts();
  std::vector<Control> read_controls(const char* task) const;
  bool offers(const char* task) const;
  const abi::ApiHeader* task_api(const char* task) const;

  const abi::CoreApi& core_;
  ModelHandle handle_;
  ModelFacts facts_;
  const abi::DocumentsApi* documents_ = nullptr;  // exactly one of the two is set
  const abi::PairApi* pairs_ = nullptr;
};

}  // namespace ranking::trtmc
