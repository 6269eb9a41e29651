// A blocking client for tests: sends any bytes, reads frames. It shares no encoder with the code under test.
#pragma once

#include <cstdint>
#include <map>
#include <msgpack.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ranking::ipc {

struct Answer {
  uint8_t type = 0;
  uint64_t exchange = 0;
  std::map<std::string, msgpack::object> fields;
  msgpack::object_handle owner;  // of the fields

  std::string text(const std::string& key) const { return fields.at(key).as<std::string>(); }
  uint64_t uint(const std::string& key) const { return fields.at(key).as<uint64_t>(); }
  std::vector<float> scores() const;
};

std::string frame(uint8_t type, uint64_t exchange, std::string_view payload);
std::string hello_frame(uint16_t protocol = 1);
std::string rank_frame(uint64_t exchange, const std::string& id, const std::string& query,
                       const std::vector<std::string>& passages, uint32_t deadline_ms = 0, const std::string& truncate = "NONE");
std::string cancel_frame(uint64_t exchange);
std::string ping_frame(uint64_t exchange);

class Client {
 public:
  // Throws std::system_error if nobody listens.
  explicit Client(const std::string& path);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes);
  void shut_down_sending();

  // The next frame, or nothing when the server has closed. Throws if neither comes within 20 s.
  std::optional<Answer> read();
  // hello and welcome.
  Answer greet();

 private:
  bool receive(char* to, size_t size);

  int fd_;
};

}  // namespace ranking::ipc
