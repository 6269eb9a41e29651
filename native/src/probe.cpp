#include "probe.h"

#include <asio/local/stream_protocol.hpp>
#include <chrono>
#include <cstring>
#include <map>
#include <msgpack.hpp>
#include <ostream>
#include <stdexcept>

#include "ipc/frame.h"

namespace ranking {
namespace {

constexpr auto kPatience = std::chrono::seconds(3);
constexpr uint32_t kMaxAnswer = 1 << 20;  // a welcome or a pong is far smaller

using Stream = asio::local::stream_protocol::iostream;

std::string greeting() {
  std::string out;
  {
    ipc::FrameWriter hello(out, ipc::MessageType::kHello, 0);
    msgpack::packer<ipc::FrameWriter> packer(hello);
    packer.pack_map(2)
        .pack(std::string("protocol"))
        .pack(1)
        .pack(std::string("client"))
        .pack(std::string("ranking-task --probe"));
  }
  {
    ipc::FrameWriter ping(out, ipc::MessageType::kPing, 1);
    msgpack::packer<ipc::FrameWriter>(ping).pack_map(0);
  }
  return out;
}

void receive(Stream& stream, char* to, size_t size) {
  if (!stream.read(to, static_cast<std::streamsize>(size))) throw std::runtime_error("no answer: " + stream.error().message());
}

// The next frame from the Task, which must be of this type.
msgpack::object_handle expect(Stream& stream, ipc::MessageType type) {
  char header[ipc::kHeaderSize];
  receive(stream, header, sizeof header);
  uint32_t length;
  std::memcpy(&length, header, sizeof length);
  if (header[12] != static_cast<char>(type) || length > kMaxAnswer)
    throw std::runtime_error("the Task refuses, or is no ranking Task");
  std::string payload(length, '\0');
  receive(stream, payload.data(), payload.size());
  return msgpack::unpack(payload.data(), payload.size());
}

bool ready(Stream& stream) {
  expect(stream, ipc::MessageType::kWelcome);
  const auto pong = expect(stream, ipc::MessageType::kPong);
  return pong.get().as<std::map<std::string, msgpack::object>>().at("ready").as<bool>();
}

}  // namespace

bool probe(const std::string& path, std::ostream& out) try {
  const std::string name = path.front() == '@' ? '\0' + path.substr(1) : path;
  Stream stream;
  stream.expires_after(kPatience);
  stream.connect(asio::local::stream_protocol::endpoint(name));
  stream << greeting() << std::flush;
  const bool is_ready = ready(stream);
  out << (is_ready ? "ready" : "not ready") << '\n';
  return is_ready;
} catch (const std::exception& failure) {
  out << path << ": " << failure.what() << '\n';
  return false;
}

}  // namespace ranking
