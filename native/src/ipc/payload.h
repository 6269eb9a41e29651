// Reads one payload, a MessagePack map with string keys, under the limits of ipc/PROTOCOL.md, section 3. Nothing is allocated for
// an element before its limit has been checked, and nothing at all for unknown keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ipc/protocol.h"

namespace ranking::ipc {

// Where the value of a key goes, and its bounds. Bounds are inclusive.
struct UintTarget {
  uint64_t* out;
  uint64_t min;
  uint64_t max;
};
struct StringTarget {
  std::string* out;
  size_t max_bytes = kMaxPayload;
};
struct StringsTarget {
  std::vector<std::string>* out;
  uint32_t max_elements;
};

struct Field {
  std::string_view key;
  bool required;
  std::variant<UintTarget, StringTarget, StringsTarget> target;
  bool seen = false;
};

// Fills the targets of the fields; keys that are not among them are skipped. Throws ProtocolError.
void read_payload(std::string_view payload, std::span<Field> fields);

}  // namespace ranking::ipc
