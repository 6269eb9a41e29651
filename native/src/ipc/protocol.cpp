#include "ipc/protocol.h"

namespace ranking::ipc {

const char* fault_name(Fault fault) {
  switch (fault) {
    case Fault::kTruncated: return "truncated";
    case Fault::kFrameTooLarge: return "frame_too_large";
    case Fault::kBadFlags: return "bad_flags";
    case Fault::kUnknownType: return "unknown_type";
    case Fault::kWrongDirection: return "wrong_direction";
    case Fault::kBadExchange: return "bad_exchange";
    case Fault::kNotAMap: return "not_a_map";
    case Fault::kTrailingBytes: return "trailing_bytes";
    case Fault::kBadMsgpack: return "bad_msgpack";
    case Fault::kExt: return "ext";
    case Fault::kTooMany: return "too_many";
    case Fault::kTooLong: return "too_long";
    case Fault::kDepth: return "depth";
    case Fault::kDuplicateKey: return "duplicate_key";
    case Fault::kMissingField: return "missing_field";
    case Fault::kWrongType: return "wrong_type";
    case Fault::kOutOfRange: return "out_of_range";
    case Fault::kBadUtf8: return "bad_utf8";
    case Fault::kBadId: return "bad_id";
    case Fault::kBadValue: return "bad_value";
  }
  return "unknown";
}

}  // namespace ranking::ipc
