// The byte vectors that all implementations share: conformance/vectors. This side decodes what a client sends, and encodes what a
// Task sends; the test's own client encoder is held to the canonical form too.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "client.h"
#include "ipc/frame.h"
#include "ipc/messages.h"

namespace ranking::ipc {
namespace {

using nlohmann::json;

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// All entries of all files, by id.
const std::map<std::string, json>& vectors() {
  static const auto all = [] {
    std::map<std::string, json> found;
    for (const auto& file : std::filesystem::directory_iterator(RANKING_VECTORS)) {
      if (file.path().extension() != ".json") continue;
      for (auto& vector : json::parse(std::ifstream(file.path()))) found.emplace(vector.at("id"), vector);
    }
    return found;
  }();
  return all;
}

FrameReader reader_of(const std::string& bytes) {
  FrameReader reader;
  for (size_t at = 0; at < bytes.size();) {
    const auto space = reader.prepare();
    const size_t part = std::min(space.size(), bytes.size() - at);
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), part, space.begin());
    reader.commit(part);
    at += part;
  }
  return reader;
}

const char* truncate_name(Truncate truncate) {
  return truncate == Truncate::kNone ? "NONE" : truncate == Truncate::kEnd ? "END" : "START";
}

json rank_fields(const RankRequest& rank, Clock::time_point arrival) {
  json fields{{"id", rank.id}, {"query", rank.query}, {"passages", rank.passages}, {"truncate", truncate_name(rank.truncate)}};
  if (rank.deadline)
    fields["deadline_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(*rank.deadline - arrival).count();
  if (rank.max_passage_tokens) fields["max_passage_tokens"] = *rank.max_passage_tokens;
  if (!rank.traceparent.empty()) fields["traceparent"] = rank.traceparent;
  return fields;
}

// Decodes as the server does. Throws ProtocolError.
json decode(const std::string& bytes) {
  FrameReader reader = reader_of(bytes);
  const auto frame = reader.next();
  if (!frame) throw ProtocolError(Fault::kTruncated, "stream");
  const auto with = [&](const char* type, json fields) {
    return json{{"exchange", frame->exchange}, {"type", type}, {"fields", std::move(fields)}};
  };
  switch (frame->type) {
    case MessageType::kHello: {
      const Hello hello = read_hello(frame->payload);
      return with("hello", {{"protocol", hello.protocol}, {"client", hello.client}});
    }
    case MessageType::kRank: {
      const auto arrival = Clock::now();
      return with("rank", rank_fields(read_rank(frame->payload, arrival), arrival));
    }
    case MessageType::kCancel: read_empty(frame->payload); return with("cancel", json::object());
    default: read_empty(frame->payload); return with("ping", json::object());
  }
}

// 0 and empty are as good as absent: the decoded form of the vectors leaves them out.
TEST(Vectors, EveryFrameOfAClientIsDecoded) {
  size_t read = 0;
  for (const auto& [id, vector] : vectors()) {
    if (vector.at("direction") != "client") continue;
    SCOPED_TRACE(id + ": " + vector.at("comment").get<std::string>());
    ++read;
    const bool valid = vector.at("valid");
    try {
      const json decoded = decode(from_hex(vector.at("hex")));
      ASSERT_TRUE(valid) << "accepted";
      EXPECT_EQ(decoded, vector.at("decoded"));
    } catch (const ProtocolError& error) {
      ASSERT_FALSE(valid) << error.what();
      EXPECT_EQ(fault_name(error.fault()), vector.at("error").get<std::string>());
    }
  }
  EXPECT_GT(read, 150u);
}

// --- encoding ---

std::optional<uint32_t> optional_uint(const json& fields, const char* key) {
  return fields.contains(key) ? std::optional(fields.at(key).get<uint32_t>()) : std::nullopt;
}

std::string encode_welcome(const json& fields) {
  const std::string kind = fields.at("score_kind");
  TaskInfo info;
  info.task = fields.at("task");
  info.task_version = fields.at("task_version");
  info.model = fields.at("model");
  info.revision = fields.at("revision");
  info.family = fields.at("family");
  info.backend = fields.at("backend");
  info.precision = fields.at("precision");
  info.bundle_digest = fields.at("bundle_digest");
  info.score_kind = kind == "logit" ? ScoreKind::kLogit : kind == "probability" ? ScoreKind::kProbability : ScoreKind::kUnbounded;
  info.max_tokens = fields.at("max_tokens");
  info.max_passages = fields.at("max_passages");
  info.pointwise = fields.at("pointwise");
  std::string out;
  write_welcome(out, info, fields.at("server").get<std::string>());
  return out;
}

std::string encode_scores(uint64_t exchange, const json& fields) {
  RankScores scores;
  for (const std::string bits : fields.at("scores")) {
    scores.scores.push_back(std::bit_cast<float>(static_cast<uint32_t>(std::stoul(bits, nullptr, 16))));
  }
  if (fields.contains("pair_tokens")) {
    scores.tokens = TokenCounts{fields.at("pair_tokens"), fields.at("truncated"), fields.at("padding_tokens")};
  }
  scores.timing = {fields.at("queue_us"), fields.at("tokenize_us"), fields.at("public_task_call_wall_us"), fields.at("batches")};
  std::string out;
  write_scores(out, exchange, fields.at("id").get<std::string>(), scores);
  return out;
}

std::optional<ErrorCode> code_of(const std::string& name) {
  for (const auto code :
       {ErrorCode::kInvalidRequest, ErrorCode::kInputTooLong, ErrorCode::kBackendRejectedRequest, ErrorCode::kServerBusy,
        ErrorCode::kBackendUnavailable, ErrorCode::kBackendFailed, ErrorCode::kDeadlineExceeded, ErrorCode::kCancelled,
        ErrorCode::kProtocolError, ErrorCode::kUnsupportedVersion}) {
    if (code_name(code) == name) return code;
  }
  return std::nullopt;
}

std::string encode_error(uint64_t exchange, const json& fields) {
  RankError error;
  error.code = code_of(fields.at("code")).value();
  error.message = fields.at("message");
  error.passage = optional_uint(fields, "passage");
  error.tokens = optional_uint(fields, "tokens");
  error.max_tokens = optional_uint(fields, "max_tokens");
  error.offending = optional_uint(fields, "offending");
  error.retry_after_ms = optional_uint(fields, "retry_after_ms");
  std::string out;
  write_error(out, exchange, fields.value("id", ""), error);
  return out;
}

std::string encode_pong(uint64_t exchange, const json& fields) {
  TaskHealth health;
  health.ready = fields.at("ready");
  health.oldest_call_ms = fields.at("oldest_call_ms");
  health.queued_requests = fields.at("queued_requests");
  health.queued_pairs = fields.at("queued_pairs");
  health.queued_tokens = fields.at("queued_tokens");
  health.queued_tokens_max = fields.at("queued_tokens_max");
  health.running_batches = fields.at("running_batches");
  health.counters = fields.value("counters", health.counters);
  health.gauges = fields.value("gauges", health.gauges);
  health.histograms = fields.value("histograms", health.histograms);
  std::string out;
  write_pong(out, exchange, health);
  return out;
}

std::string encode(const json& decoded) {
  const uint64_t exchange = decoded.at("exchange");
  const std::string type = decoded.at("type");
  const json& fields = decoded.at("fields");
  if (type == "welcome") return encode_welcome(fields);
  if (type == "scores") return encode_scores(exchange, fields);
  if (type == "error") return encode_error(exchange, fields);
  if (type == "pong") return encode_pong(exchange, fields);
  if (type == "cancel") return cancel_frame(exchange);
  if (type == "ping") return ping_frame(exchange);
  std::string out;
  write_goaway(out);
  return out;
}

TEST(Vectors, EveryFrameOfATaskIsEncodedByteForByte) {
  std::map<std::string, size_t> written;
  for (const auto& [id, vector] : vectors()) {
    const bool ours = vector.at("direction") == "task" || id == "ping-worked-example" || id == "exchange-byte-order";
    if (!ours || !vector.at("canonical")) continue;
    const json& decoded = vector.at("decoded");
    if (id == "error-code-unknown") continue;  // a Task cannot say it: its codes are an enum
    SCOPED_TRACE(id + ": " + vector.at("comment").get<std::string>());
    EXPECT_EQ(encode(decoded), from_hex(vector.at("hex")));
    ++written[decoded.at("type")];
  }
  for (const char* type : {"welcome", "scores", "error", "pong", "goaway", "ping", "cancel"})
    EXPECT_GT(written[type], 0u) << type;
}

}  // namespace
}  // namespace ranking::ipc
