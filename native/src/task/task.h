// The Task interface: what the ipc server needs of a ranking model, and nothing of how one computes.
//
// Threads. info() never changes after construction. submit(), cancel(), health() and drain() may be called from any thread and
// return at once (no inference, no tokenizing on the caller's thread). A Completion runs on a thread of the Task, exactly once
// per submit(), possibly before submit() returns; it must be short and must not call back into the Task.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "task/clock.h"

namespace ranking {

enum class ScoreKind { kLogit, kProbability, kUnbounded };

// Identity and limits of the served model: the `welcome` of ipc/PROTOCOL.md.
struct TaskInfo {
  std::string task = "text_query_documents_to_relevance";
  std::string task_version = "1.0";
  std::string model;
  std::string revision;
  std::string family;
  std::string backend;
  std::string precision;
  std::string bundle_digest;  // "sha256:<hex>" over the served files, or empty
  ScoreKind score_kind = ScoreKind::kLogit;
  uint32_t max_tokens = 0;  // per pair, special tokens included; 0: this Task does not count tokens
  uint32_t max_passages = 512;
  bool pointwise = true;
};

enum class Truncate { kNone, kEnd, kStart };

struct RankRequest {
  std::string id;
  std::string query;
  std::vector<std::string> passages;
  Truncate truncate = Truncate::kNone;
  std::optional<Clock::time_point> deadline;
  std::optional<uint32_t> max_passage_tokens;
  std::string traceparent;
};

// Times in microseconds, of the monotonic Clock.
struct RankTiming {
  uint64_t queue_us = 0;                  // admission to first Task call, tokenizing included
  uint64_t tokenize_us = 0;               // part of queue_us
  uint64_t public_task_call_wall_us = 0;  // first call start to last call end that holds its pairs
  uint32_t batches = 0;
};

struct TokenCounts {
  std::vector<uint32_t> per_pair;   // as scored, special tokens included, padding excluded
  uint32_t truncated = 0;           // pairs that were cut
  std::optional<uint64_t> padding;  // padding computed in this request's own rows; none if only the model knows
};

struct RankScores {
  std::vector<float> scores;  // in passage order, all finite
  std::optional<TokenCounts> tokens;
  RankTiming timing;
};

// ipc/PROTOCOL.md, section 7.
enum class ErrorCode {
  kInvalidRequest,
  kInputTooLong,
  kBackendRejectedRequest,
  kServerBusy,
  kBackendUnavailable,
  kBackendFailed,
  kDeadlineExceeded,
  kCancelled,
  kProtocolError,
  kUnsupportedVersion,
};

struct RankError {
  ErrorCode code = ErrorCode::kBackendFailed;
  std::string message;
  std::optional<uint32_t> passage;
  std::optional<uint32_t> tokens;
  std::optional<uint32_t> max_tokens;
  std::optional<uint32_t> offending;
  std::optional<uint32_t> retry_after_ms;
  bool foreign =
      false;  // the message has words of the model's own code, which may quote the input: for the client, never for a log
};

using RankOutcome = std::variant<RankScores, RankError>;
using Completion = std::function<void(RankOutcome)>;

// The `pong` of ipc/PROTOCOL.md. Answered by the part of the Task that starts batches.
struct TaskHealth {
  bool ready = false;
  uint64_t oldest_call_ms = 0;
  uint64_t queued_requests = 0;
  uint64_t queued_pairs = 0;
  uint64_t queued_tokens = 0;
  uint64_t queued_tokens_max = 0;
  uint64_t running_batches = 0;
  std::map<std::string, uint64_t> counters;
  std::map<std::string, uint64_t> gauges;
  std::map<std::string, std::vector<uint64_t>> histograms;  // cumulative; bounds in section 9
};

using HealthReply = std::function<void(TaskHealth)>;

// Names one submit() for cancel(); chosen by the caller, never reused while the Task lives.
using Ticket = uint64_t;

class Task {
 public:
  virtual ~Task() = default;

  virtual const TaskInfo& info() const = 0;

  // Facts for the operator, name and value, such as {"isa", "avx512_vnni"}: printed by --check and logged at start, never sent to
  // clients.
  virtual std::vector<std::pair<std::string, std::string>> details() const { return {}; }

  // Takes the request. The completion is called exactly once, also for a request refused at admission.
  virtual void submit(Ticket ticket, RankRequest request, Completion done) = 0;

  // Drops the queued pairs of a request; a call that runs is not interrupted. Unknown tickets are ignored.
  virtual void cancel(Ticket ticket) = 0;

  // Replies from the scheduling part of the Task, so that a hung scheduler does not reply.
  virtual void health(HealthReply reply) = 0;

  // Refuses new requests from now on; those accepted are finished. Does not wait.
  virtual void drain() = 0;
};

}  // namespace ranking
