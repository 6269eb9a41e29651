#include "ipc/frame.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ranking::ipc {
namespace {

static_assert(std::endian::native == std::endian::little, "the header and packed arrays are copied as they lie in memory");

constexpr size_t kReadSize = 64u << 10;
constexpr size_t kKeepCapacity = 1u << 20;  // a larger buffer is given back once its frame has been read

struct Header {
  uint32_t length;
  uint64_t exchange;
  uint8_t type;
  uint8_t flags;
  uint16_t reserved;
};

template <typename T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

Header load_header(const char* from) {
  return {load<uint32_t>(from), load<uint64_t>(from + 4), load<uint8_t>(from + 12), load<uint8_t>(from + 13),
          load<uint16_t>(from + 14)};
}

void check_type(uint8_t type) {
  switch (static_cast<MessageType>(type)) {
    case MessageType::kHello:
    case MessageType::kRank:
    case MessageType::kCancel:
    case MessageType::kPing: return;
    case MessageType::kWelcome:
    case MessageType::kScores:
    case MessageType::kError:
    case MessageType::kPong:
    case MessageType::kGoaway: throw ProtocolError(Fault::kWrongDirection, "frame type");
  }
  throw ProtocolError(Fault::kUnknownType, "frame type");
}

void check(const Header& header) {
  if (header.length > kMaxPayload) throw ProtocolError(Fault::kFrameTooLarge, "frame length");
  if (header.flags != 0 || header.reserved != 0) throw ProtocolError(Fault::kBadFlags, "frame header");
  check_type(header.type);
  const bool of_connection = static_cast<MessageType>(header.type) == MessageType::kHello;
  if (of_connection != (header.exchange == 0)) throw ProtocolError(Fault::kBadExchange, "frame exchange");
}

}  // namespace

size_t FrameReader::needed() const {
  const size_t have = end_ - begin_;
  if (have < kHeaderSize) return kHeaderSize - have;
  return kHeaderSize + load<uint32_t>(buffer_.data() + begin_) - have;
}

std::span<char> FrameReader::prepare() {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (buffer_.size() > kKeepCapacity) std::vector<char>().swap(buffer_);
  } else if (begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_), buffer_.begin() + static_cast<ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  // Doubling what has arrived keeps the copies of a large frame few and its memory within twice its bytes.
  const size_t wanted = end_ + std::min(std::max(needed(), kReadSize), std::max(end_, kReadSize));
  if (buffer_.size() < wanted) buffer_.resize(wanted);
  return std::span(buffer_).subspan(end_);
}

void FrameReader::commit(size_t bytes) { end_ += bytes; }

std::optional<Frame> FrameReader::next() {
  if (end_ - begin_ < kHeaderSize) return std::nullopt;
  const char* start = buffer_.data() + begin_;
  const Header header = load_header(start);
  check(header);
  if (end_ - begin_ < kHeaderSize + header.length) return std::nullopt;
  begin_ += kHeaderSize + header.length;
  return Frame{static_cast<MessageType>(header.type), header.exchange, {start + kHeaderSize, header.length}};
}

FrameWriter::FrameWriter(std::string& out, MessageType type, uint64_t exchange) : out_(out), start_(out.size()) {
  char header[kHeaderSize] = {};
  std::memcpy(header + 4, &exchange, sizeof exchange);
  header[12] = static_cast<char>(type);
  out_.append(header, kHeaderSize);
}

FrameWriter::~FrameWriter() {
  const auto length = static_cast<uint32_t>(out_.size() - start_ - kHeaderSize);
  std::memcpy(out_.data() + start_, &length, sizeof length);
}

}  // namespace ranking::ipc
