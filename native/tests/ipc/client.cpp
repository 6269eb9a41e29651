#include "client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace ranking::ipc {
namespace {

constexpr int kPatienceMs = 20'000;

[[noreturn]] void fail(const char* action) { throw std::system_error(errno, std::generic_category(), action); }

template <typename T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::vector<float> Answer::scores() const {
  const auto& packed = fields.at("scores").via.bin;
  std::vector<float> scores(packed.size / sizeof(float));
  std::memcpy(scores.data(), packed.ptr, packed.size);
  return scores;
}

std::string frame(uint8_t type, uint64_t exchange, std::string_view payload) {
  std::string out;
  append(out, static_cast<uint32_t>(payload.size()));
  append(out, exchange);
  append(out, type);
  out.append(3, '\0');
  return out.append(payload);
}

std::string hello_frame(uint16_t protocol) {
  msgpack::sbuffer payload;
  msgpack::packer packer(payload);
  packer.pack_map(2).pack(std::string("protocol")).pack(protocol).pack(std::string("client")).pack(std::string("test"));
  return frame(1, 0, {payload.data(), payload.size()});
}

std::string rank_frame(uint64_t exchange, const std::string& id, const std::string& query,
                       const std::vector<std::string>& passages, uint32_t deadline_ms, const std::string& truncate) {
  msgpack::sbuffer payload;
  msgpack::packer packer(payload);
  packer.pack_map(deadline_ms == 0 ? 4 : 5);
  packer.pack(std::string("id")).pack(id).pack(std::string("query")).pack(query);
  packer.pack(std::string("passages")).pack(passages).pack(std::string("truncate")).pack(truncate);
  if (deadline_ms != 0) packer.pack(std::string("deadline_ms")).pack(deadline_ms);
  return frame(3, exchange, {payload.data(), payload.size()});
}

std::string cancel_frame(uint64_t exchange) { return frame(6, exchange, "\x80"); }
std::string ping_frame(uint64_t exchange) { return frame(7, exchange, "\x80"); }

Client::Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (fd_ < 0) fail("socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    ::close(fd_);
    fail("connect");
  }
}

Client::~Client() { ::close(fd_); }

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) fail("send");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void Client::shut_down_sending() { ::shutdown(fd_, SHUT_WR); }

// Returns false if the server closed before the first byte.
bool Client::receive(char* to, size_t size) {
  for (size_t have = 0; have < size;) {
    pollfd wait{fd_, POLLIN, 0};
    if (::poll(&wait, 1, kPatienceMs) <= 0) throw std::runtime_error("the server neither answered nor closed");
    const ssize_t got = ::recv(fd_, to + have, size - have, 0);
    if (got <= 0 && have == 0) return false;
    if (got <= 0) throw std::runtime_error("the server closed within a frame");
    have += static_cast<size_t>(got);
  }
  return true;
}

std::optional<Answer> Client::read() {
  char header[16];
  if (!receive(header, sizeof header)) return std::nullopt;
  uint32_t length;
  Answer answer;
  std::memcpy(&length, header, 4);
  std::memcpy(&answer.exchange, header + 4, 8);
  answer.type = static_cast<uint8_t>(header[12]);
  std::string payload(length, '\0');
  if (!receive(payload.data(), length)) throw std::runtime_error("the server closed behind a header");
  answer.owner = msgpack::unpack(payload.data(), payload.size());
  answer.fields = answer.owner.get().as<std::map<std::string, msgpack::object>>();
  return answer;
}

Answer Client::greet() {
  send(hello_frame());
  auto welcome = read();
  if (!welcome) throw std::runtime_error("the server closed instead of a welcome");
  return std::move(*welcome);
}

}  // namespace ranking::ipc
