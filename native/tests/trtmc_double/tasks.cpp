#include "tasks.h"

#include <limits>
#include <map>
#include <memory>

#include "fault.h"
#include "objects.h"
#include "scoring.h"

namespace trtmc_double {
namespace {

// One run at a time is the caller's duty; the double counts where it is broken.
class Turn {
 public:
  explicit Turn(trtmc_model& model) : model_(model) {
    ++alive.runs;
    if (model_.running.exchange(true)) ++alive.overlaps;
  }
  ~Turn() { model_.running = false; }

 private:
  trtmc_model& model_;
};

Fault fault_of(const Settings& settings, std::string_view query, const std::vector<std::string_view>& documents) {
  if (Fault fault = read_fault(settings.fault); !fault.name.empty()) return fault;
  if (Fault fault = read_fault(query); !fault.name.empty()) return fault;
  for (const auto document : documents) {
    if (Fault fault = read_fault(document); !fault.name.empty()) return fault;
  }
  return {};
}

void check_words(const Settings& settings, const std::vector<std::string_view>& documents) {
  for (size_t i = 0; settings.max_words > 0 && i < documents.size(); ++i) {
    const size_t words = count_words(documents[i]);
    if (words <= static_cast<size_t>(settings.max_words)) continue;
    throw Failure{TRTMC_INVALID_ARGUMENT, "document " + std::to_string(i) + " has " + std::to_string(words) +
                                              " words, the limit is " + std::to_string(settings.max_words)};
  }
}

std::vector<float> scores_of(const Bundle& bundle, const Settings& settings, std::string_view query,
                             const std::vector<std::string_view>& documents) {
  std::vector<float> scores(documents.size());
  for (size_t i = 0; bundle.work && i < documents.size(); ++i) scores[i] = score(bundle.seed, settings, query, documents[i], i);
  return scores;
}

void spoil(const Fault& fault, trtmc_result& result) {
  const auto last = [&](float value) {
    if (!result.scores.empty()) result.scores.back() = value;
  };
  if (fault.is("nan")) last(std::numeric_limits<float>::quiet_NaN());
  if (fault.is("inf")) last(std::numeric_limits<float>::infinity());
  if (fault.is("kind")) result.kind = static_cast<uint32_t>(fault.number);
  if (fault.is("view")) result.view_status = static_cast<trtmc_status>(fault.number);
  if (fault.is("leak")) result.leaks = true;
  if (fault.is("count")) {
    result.scores.resize(result.scores.size() + static_cast<size_t>(std::max<int64_t>(0, fault.number)));
    result.count += static_cast<uint64_t>(fault.number);
  }
}

std::unique_ptr<trtmc_result> compute(trtmc_model& model, std::string_view query, const std::vector<std::string_view>& documents,
                                      const trtmc_config_view_v1* config) {
  const Turn turn(model);
  const Settings settings = read_settings(config);
  const Fault fault = model.bundle.work ? fault_of(settings, query, documents) : Fault{};
  strike(fault);
  check_words(settings, documents);
  if (fault.is("nothing")) return nullptr;
  auto result = std::make_unique<trtmc_result>();
  result->scores = scores_of(model.bundle, settings, query, documents);
  result->count = documents.size();
  result->kind = settings.squash ? static_cast<uint32_t>(TRTMC_SCORE_PROBABILITY) : model.bundle.score_kind;
  spoil(fault, *result);
  return result;
}

template <typename Request, typename Documents>
trtmc_status run(trtmc_model* model, const Request* request, const trtmc_config_view_v1* config, trtmc_result** out,
                 trtmc_error** error, Documents documents) {
  if (out != nullptr) *out = nullptr;
  return guarded(error, [&] {
    require(model != nullptr && request != nullptr && out != nullptr, "run: a null argument");
    *out = compute(*model, text(request->query), documents(*request), config).release();
    if (*out != nullptr) ++alive.results;
  });
}

trtmc_status run_documents(trtmc_model* model, const trtmc_text_query_documents_to_relevance_request_v1* request,
                           const trtmc_config_view_v1* config, trtmc_result** out, trtmc_error** error) {
  return run(model, request, config, out, error, [](const auto& asked) {
    require(asked.documents.data != nullptr || asked.documents.size == 0, "the documents have a size and no data");
    std::vector<std::string_view> documents;
    for (uint64_t i = 0; i < asked.documents.size; ++i) documents.push_back(text(asked.documents.data[i]));
    return documents;
  });
}

trtmc_status run_pair(trtmc_model* model, const trtmc_text_pair_to_relevance_request_v1* request,
                      const trtmc_config_view_v1* config, trtmc_result** out, trtmc_error** error) {
  return run(model, request, config, out, error,
             [](const auto& asked) { return std::vector<std::string_view>{text(asked.document)}; });
}

// The result behind a view, if that may be looked at.
template <typename View>
const trtmc_result& viewed(const trtmc_result* result, View* view) {
  require(result != nullptr && view != nullptr, "result_view: a null argument");
  if (result->view_status != TRTMC_OK) throw Failure{result->view_status, "the double was told to fail in result_view"};
  return *result;
}

trtmc_status view_documents(const trtmc_result* result, trtmc_document_relevance_view_v1* view, trtmc_error** error) {
  if (view != nullptr) *view = {};
  return guarded(error, [&] {
    const auto& found = viewed(result, view);
    *view = {found.scores.data(), found.count, found.kind};
  });
}

trtmc_status view_pair(const trtmc_result* result, trtmc_relevance_view_v1* view, trtmc_error** error) {
  if (view != nullptr) *view = {};
  return guarded(error, [&] {
    const auto& found = viewed(result, view);
    *view = {found.scores.at(0), found.kind};
  });
}

template <typename Table>
const trtmc_api_header* broken(const Table& whole, const std::string& defect) {
  static const std::map<std::string, Table> tables = [&] {
    std::map<std::string, Table> made{{"", whole}, {"short", whole}, {"major", whole}, {"no_run", whole}};
    made["short"].header.byte_size = offsetof(Table, result_view);
    made["major"].header.major = 2;
    made["no_run"].run = nullptr;
    return made;
  }();
  return &tables.at(defect).header;
}

constexpr trtmc_text_query_documents_to_relevance_api_v1 kDocuments = {
    {1, 0, sizeof(trtmc_text_query_documents_to_relevance_api_v1)}, run_documents, view_documents};
constexpr trtmc_text_pair_to_relevance_api_v1 kPair = {{1, 0, sizeof(trtmc_text_pair_to_relevance_api_v1)}, run_pair, view_pair};

}  // namespace

const trtmc_api_header* task_table(const std::string& id, const std::string& defect) {
  if (id == "text_query_documents_to_relevance") return broken(kDocuments, defect);
  if (id == "text_pair_to_relevance") return broken(kPair, defect);
  return nullptr;
}

}  // namespace trtmc_double
