// Constants of ipc/PROTOCOL.md, version 1, and the one exception its readers throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace ranking::ipc {

inline constexpr uint16_t kProtocolVersion = 1;

// Section 3.
inline constexpr size_t kMaxPayload = 32u << 20;
inline constexpr uint32_t kMaxEntries = 64;
inline constexpr size_t kMaxDepth = 4;
inline constexpr uint32_t kMaxPassages = 16384;
inline constexpr uint32_t kMaxElements = 64;
inline constexpr size_t kMaxKey = 64;
inline constexpr size_t kMaxRequestId = 128;
inline constexpr size_t kMaxShortString = 4096;

// Section 4. Other values do not occur: the frame reader refuses them.
enum class MessageType : uint8_t {
  kHello = 1,
  kWelcome = 2,
  kRank = 3,
  kScores = 4,
  kError = 5,
  kCancel = 6,
  kPing = 7,
  kPong = 8,
  kGoaway = 9,
};

// What is wrong with a frame; the error classes of conformance/vectors/README.md.
enum class Fault {
  kTruncated,
  kFrameTooLarge,
  kBadFlags,
  kUnknownType,
  kWrongDirection,
  kBadExchange,
  kNotAMap,
  kTrailingBytes,
  kBadMsgpack,
  kExt,
  kTooMany,
  kTooLong,
  kDepth,
  kDuplicateKey,
  kMissingField,
  kWrongType,
  kOutOfRange,
  kBadUtf8,
  kBadId,
  kBadValue,
};

// The class as the vectors spell it, such as "bad_utf8".
const char* fault_name(Fault fault);

// A frame breaks the protocol. what() tells the fault and where it is, in our own words: it carries no byte of the client's.
class ProtocolError : public std::runtime_error {
 public:
  ProtocolError(Fault fault, const std::string& where) : std::runtime_error(where + ": " + fault_name(fault)), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

}  // namespace ranking::ipc
