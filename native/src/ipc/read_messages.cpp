#include <algorithm>
#include <array>

#include "ipc/messages.h"
#include "ipc/payload.h"

namespace ranking::ipc {
namespace {

constexpr uint64_t kMax31 = 1ull << 31;
constexpr bool kRequired = true;
constexpr bool kOptional = false;

bool ascii_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

void check_request_id(std::string_view id) {
  const auto allowed = [](char c) { return ascii_alphanumeric(c) || c == '.' || c == '_' || c == ':' || c == '-'; };
  const bool good =
      !id.empty() && id.size() <= kMaxRequestId && ascii_alphanumeric(id.front()) && std::all_of(id.begin(), id.end(), allowed);
  if (!good) throw ProtocolError(Fault::kBadId, "id");
}

Truncate parse_truncate(std::string_view name) {
  if (name == "NONE") return Truncate::kNone;
  if (name == "END") return Truncate::kEnd;
  if (name == "START") return Truncate::kStart;
  throw ProtocolError(Fault::kBadValue, "truncate");
}

}  // namespace

Hello read_hello(std::string_view payload) {
  Hello hello;
  uint64_t protocol = 0;
  std::array fields{
      Field{"protocol", kRequired, UintTarget{&protocol, 1, 65535}},
      Field{"client", kRequired, StringTarget{&hello.client, kMaxShortString}},
  };
  read_payload(payload, fields);
  hello.protocol = static_cast<uint16_t>(protocol);
  return hello;
}

RankRequest read_rank(std::string_view payload, Clock::time_point arrival) {
  RankRequest rank;
  std::string truncate;
  uint64_t deadline_ms = 0;
  uint64_t max_passage_tokens = 0;
  std::array fields{
      Field{"id", kRequired, StringTarget{&rank.id}},
      Field{"query", kRequired, StringTarget{&rank.query}},
      Field{"passages", kRequired, StringsTarget{&rank.passages, kMaxPassages}},
      Field{"truncate", kRequired, StringTarget{&truncate}},
      Field{"deadline_ms", kOptional, UintTarget{&deadline_ms, 0, kMax31}},
      Field{"max_passage_tokens", kOptional, UintTarget{&max_passage_tokens, 1, kMax31}},
      Field{"traceparent", kOptional, StringTarget{&rank.traceparent, kMaxShortString}},
  };
  read_payload(payload, fields);
  check_request_id(rank.id);
  rank.truncate = parse_truncate(truncate);
  if (deadline_ms != 0) rank.deadline = arrival + std::chrono::milliseconds(deadline_ms);
  if (max_passage_tokens != 0) rank.max_passage_tokens = static_cast<uint32_t>(max_passage_tokens);
  return rank;
}

void read_empty(std::string_view payload) { read_payload(payload, {}); }

}  // namespace ranking::ipc
