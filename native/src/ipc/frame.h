// Frames of ipc/PROTOCOL.md, section 2: a 16-byte header and a payload. What the payload holds is for messages.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ipc/protocol.h"

namespace ranking::ipc {

inline constexpr size_t kHeaderSize = 16;

struct Frame {
  MessageType type;
  uint64_t exchange;
  std::string_view payload;  // into the FrameReader; valid until its next prepare()
};

// Cuts the byte stream of one client into frames. Memory follows the bytes that have arrived, not the length a header announces,
// so that an idle client cannot reserve 32 MiB with 16 bytes. One thread.
//
//   span = reader.prepare(); n = read(span); reader.commit(n); while (auto frame = reader.next()) ...
class FrameReader {
 public:
  // Room for the next read: at least one byte, and the rest of a begun frame where it is known.
  std::span<char> prepare();
  void commit(size_t bytes);

  // The next whole frame, or nothing until more bytes come. Throws ProtocolError as soon as a header is wrong: the length before
  // anything is allocated for it, a type that is not in the table or not for a client to send, an exchange of 0 where one is
  // needed.
  std::optional<Frame> next();

  // Tells whether a frame has begun and is not whole.
  bool partial() const { return begin_ != end_; }

 private:
  size_t needed() const;

  std::vector<char> buffer_;
  size_t begin_ = 0;  // of the first unread byte
  size_t end_ = 0;    // behind the last byte that has arrived
};

// Appends one frame to out: the header now, its length once the payload has been written behind it.
class FrameWriter {
 public:
  FrameWriter(std::string& out, MessageType type, uint64_t exchange);
  ~FrameWriter();
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  // The sink that msgpack::packer writes to.
  void write(const char* data, size_t size) { out_.append(data, size); }

 private:
  std::string& out_;
  size_t start_;
};

}  // namespace ranking::ipc
