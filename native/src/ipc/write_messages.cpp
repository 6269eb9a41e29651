#include <msgpack.hpp>

#include "ipc/messages.h"
#include "ipc/utf8.h"

namespace ranking::ipc {
namespace {

// Packs the one map of a frame. The number of entries is announced first, as MessagePack wants it.
class MapWriter {
 public:
  MapWriter(std::string& out, MessageType type, uint64_t exchange, size_t entries)
      : frame_(out, type, exchange), packer_(frame_) {
    packer_.pack_map(static_cast<uint32_t>(entries));
  }

  void text(std::string_view key, std::string_view value) {
    string(key);
    string(value);
  }
  void uint(std::string_view key, uint64_t value) {
    string(key);
    packer_.pack_uint64(value);
  }
  void boolean(std::string_view key, bool value) {
    string(key);
    value ? packer_.pack_true() : packer_.pack_false();
  }
  // f32 or u32, little endian, as they lie in memory.
  template <typename T>
  void packed(std::string_view key, const std::vector<T>& values) {
    static_assert(sizeof(T) == 4);
    string(key);
    const auto bytes = static_cast<uint32_t>(values.size() * sizeof(T));
    packer_.pack_bin(bytes);
    packer_.pack_bin_body(reinterpret_cast<const char*>(values.data()), bytes);
  }
  void uint_map(std::string_view key, const std::map<std::string, uint64_t>& values) {
    open_map(key, values.size());
    for (const auto& [name, value] : values) uint(name, value);
  }
  void uint_array_map(std::string_view key, const std::map<std::string, std::vector<uint64_t>>& values) {
    open_map(key, values.size());
    for (const auto& [name, counts] : values) {
      string(name);
      packer_.pack_array(static_cast<uint32_t>(counts.size()));
      for (const uint64_t count : counts) packer_.pack_uint64(count);
    }
  }

 private:
  void string(std::string_view value) {
    packer_.pack_str(static_cast<uint32_t>(value.size()));
    packer_.pack_str_body(value.data(), static_cast<uint32_t>(value.size()));
  }
  void open_map(std::string_view key, size_t entries) {
    string(key);
    packer_.pack_map(static_cast<uint32_t>(entries));
  }

  FrameWriter frame_;
  msgpack::packer<FrameWriter> packer_;
};

}  // namespace

std::string_view code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidRequest: return "invalid_request";
    case ErrorCode::kInputTooLong: return "input_too_long";
    case ErrorCode::kBackendRejectedRequest: return "backend_rejected_request";
    case ErrorCode::kServerBusy: return "server_busy";
    case ErrorCode::kBackendUnavailable: return "backend_unavailable";
    case ErrorCode::kBackendFailed: return "backend_failed";
    case ErrorCode::kDeadlineExceeded: return "deadline_exceeded";
    case ErrorCode::kCancelled: return "cancelled";
    case ErrorCode::kProtocolError: return "protocol_error";
    case ErrorCode::kUnsupportedVersion: return "unsupported_version";
  }
  return "backend_failed";
}

std::string_view score_kind_name(ScoreKind kind) {
  switch (kind) {
    case ScoreKind::kLogit: return "logit";
    case ScoreKind::kProbability: return "probability";
    case ScoreKind::kUnbounded: return "unbounded";
  }
  return "unbounded";
}

void write_welcome(std::string& out, const TaskInfo& info, std::string_view server) {
  MapWriter map(out, MessageType::kWelcome, 0, 14);
  map.uint("protocol", kProtocolVersion);
  map.text("server", server);
  map.text("task", info.task);
  map.text("task_version", info.task_version);
  map.text("model", info.model);
  map.text("revision", info.revision);
  map.text("family", info.family);
  map.text("backend", info.backend);
  map.text("precision", info.precision);
  map.text("bundle_digest", info.bundle_digest);
  map.text("score_kind", score_kind_name(info.score_kind));
  map.uint("max_tokens", info.max_tokens);
  map.uint("max_passages", info.max_passages);
  map.boolean("pointwise", info.pointwise);
}

void write_scores(std::string& out, uint64_t exchange, std::string_view id, const RankScores& scores) {
  const bool padding = scores.tokens && scores.tokens->padding;
  MapWriter map(out, MessageType::kScores, exchange, 6 + (scores.tokens ? 2 : 0) + (padding ? 1 : 0));
  map.text("id", id);
  map.packed("scores", scores.scores);
  if (scores.tokens) {
    map.packed("pair_tokens", scores.tokens->per_pair);
    map.uint("truncated", scores.tokens->truncated);
  }
  map.uint("queue_us", scores.timing.queue_us);
  map.uint("tokenize_us", scores.timing.tokenize_us);
  map.uint("public_task_call_wall_us", scores.timing.public_task_call_wall_us);
  map.uint("batches", scores.timing.batches);
  if (padding) map.uint("padding_tokens", *scores.tokens->padding);
}

void write_error(std::string& out, uint64_t exchange, std::string_view id, const RankError& error) {
  const std::pair<std::string_view, std::optional<uint32_t>> numbers[] = {
      {"passage", error.passage},
      {"tokens", error.tokens},
      {"max_tokens", error.max_tokens},
      {"offending", error.offending},
      {"retry_after_ms", error.retry_after_ms},
  };
  size_t entries = id.empty() ? 2 : 3;
  for (const auto& [key, value] : numbers) entries += value.has_value();

  MapWriter map(out, MessageType::kError, exchange, entries);
  if (!id.empty()) map.text("id", id);
  map.text("code", code_name(error.code));
  map.text("message", repair_utf8(error.message, kMaxShortString));
  for (const auto& [key, value] : numbers) {
    if (value) map.uint(key, *value);
  }
}

void write_pong(std::string& out, uint64_t exchange, const TaskHealth& health) {
  const size_t optional = !health.counters.empty() + !health.gauges.empty() + !health.histograms.empty();
  MapWriter map(out, MessageType::kPong, exchange, 7 + optional);
  map.boolean("ready", health.ready);
  map.uint("oldest_call_ms", health.oldest_call_ms);
  map.uint("queued_requests", health.queued_requests);
  map.uint("queued_pairs", health.queued_pairs);
  map.uint("queued_tokens", health.queued_tokens);
  map.uint("queued_tokens_max", health.queued_tokens_max);
  map.uint("running_batches", health.running_batches);
  if (!health.counters.empty()) map.uint_map("counters", health.counters);
  if (!health.gauges.empty()) map.uint_map("gauges", health.gauges);
  if (!health.histograms.empty()) map.uint_array_map("histograms", health.histograms);
}

void write_goaway(std::string& out) {
  MapWriter map(out, MessageType::kGoaway, 0, 1);
  map.text("reason", "shutdown");
}

}  // namespace ranking::ipc
