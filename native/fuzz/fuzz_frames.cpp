// Everything a client can send, up to the Task: frames and the messages in them.
//
// The first byte of the input says how the rest is cut into reads; what is found must not depend on it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ipc/frame.h"
#include "ipc/messages.h"
#include "ipc/utf8.h"
#include "require.h"

namespace {

using namespace ranking::ipc;

void check_rank(std::string_view payload) {
  const auto rank = read_rank(payload, ranking::Clock::time_point());
  require(!rank.id.empty() && rank.id.size() <= kMaxRequestId);
  require(rank.passages.size() <= kMaxPassages && rank.traceparent.size() <= kMaxShortString);
  size_t bytes = rank.query.size();
  require(valid_utf8(rank.query));
  for (const auto& passage : rank.passages) {
    bytes += passage.size();
    require(valid_utf8(passage));
  }
  require(bytes <= payload.size());
}

void read_message(const Frame& frame) {
  require(frame.payload.size() <= kMaxPayload);
  switch (frame.type) {
    case MessageType::kHello: return require(read_hello(frame.payload).protocol != 0);
    case MessageType::kRank: return check_rank(frame.payload);
    default: return read_empty(frame.payload);
  }
}

// What a server makes of the stream: how many frames it takes, and the fault that ends it.
std::string outcome(std::string_view stream, size_t read_size) {
  FrameReader reader;
  size_t frames = 0;
  try {
    while (!stream.empty()) {
      const auto space = reader.prepare();
      const size_t part = std::min({space.size(), stream.size(), read_size});
      std::copy_n(stream.begin(), part, space.begin());
      reader.commit(part);
      stream.remove_prefix(part);
      while (const auto frame = reader.next()) {
        read_message(*frame);
        ++frames;
      }
    }
  } catch (const ProtocolError& error) {
    return std::to_string(frames) + error.what();
  }
  return std::to_string(frames) + (reader.partial() ? " partial" : " whole");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  require(outcome(stream, 1u + data[0]) == outcome(stream, stream.size() + 1));
  return 0;
}
