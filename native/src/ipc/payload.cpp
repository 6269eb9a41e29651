#include "ipc/payload.h"

#include <algorithm>
#include <array>
#include <msgpack.hpp>
#include <optional>

#include "ipc/utf8.h"

namespace ranking::ipc {
namespace {

// Receives MessagePack events; a callback that returns false stops the parser.
class PayloadVisitor : public msgpack::null_visitor {
 public:
  explicit PayloadVisitor(std::span<Field> fields) : fields_(fields) {}

  bool visit_nil() { return other(); }
  bool visit_boolean(bool) { return other(); }
  bool visit_float32(float) { return other(); }
  bool visit_float64(double) { return other(); }
  bool visit_bin(const char*, uint32_t) { return other(); }
  bool visit_ext(const char*, uint32_t) { return refuse(Fault::kExt); }
  bool visit_positive_integer(uint64_t value) { return integer(value); }
  bool visit_negative_integer(int64_t value) {
    // The parser reports every signed format here, whatever the sign.
    if (value >= 0) return integer(static_cast<uint64_t>(value));
    if (!in_key_ && wanted<UintTarget>() != nullptr) return refuse(Fault::kOutOfRange);
    return other();
  }
  bool visit_str(const char* data, uint32_t size) { return string({data, size}); }

  bool start_array(uint32_t elements);
  bool end_array() { return leave(); }
  bool start_map(uint32_t entries);
  bool end_map() { return leave(); }
  bool start_map_key() { return in_key_ = true; }
  bool end_map_key() {
    in_key_ = false;
    return true;
  }
  bool end_map_value() {
    if (depth_ == 1) field_ = nullptr;
    return true;
  }

  void parse_error(size_t, size_t) { fault_ = Fault::kBadMsgpack; }
  void insufficient_bytes(size_t, size_t) { fault_ = Fault::kTruncated; }

  std::optional<Fault> fault() const { return fault_; }
  std::string where() const { return field_ == nullptr ? "payload" : std::string(field_->key); }

 private:
  bool refuse(Fault fault) {
    fault_ = fault;
    return false;
  }

  // The target of the known field whose own value, not an element of it, is being read, if it is a T.
  template <typename T>
  const T* wanted() const {
    return field_ != nullptr && depth_ == 1 ? std::get_if<T>(&field_->target) : nullptr;
  }

  // A value of a type that no field has: fine only where it is skipped.
  bool other() {
    if (depth_ == 0) return refuse(Fault::kNotAMap);
    return in_key_ || field_ != nullptr ? refuse(Fault::kWrongType) : true;
  }

  bool integer(uint64_t value);
  bool string(std::string_view text);
  bool key(std::string_view text);
  bool enter();
  bool leave() {
    --depth_;
    return true;
  }

  std::span<Field> fields_;
  Field* field_ = nullptr;  // whose value is being read; nullptr while skipping
  bool in_key_ = false;
  size_t depth_ = 0;
  std::array<std::vector<std::string_view>, kMaxDepth> keys_;  // seen so far, for each map that is open
  std::optional<Fault> fault_;
};

bool PayloadVisitor::enter() {
  if (in_key_) return refuse(Fault::kWrongType);
  if (depth_ == kMaxDepth) return refuse(Fault::kDepth);
  keys_[depth_++].clear();
  return true;
}

bool PayloadVisitor::start_map(uint32_t entries) {
  if (field_ != nullptr) return refuse(Fault::kWrongType);
  if (entries > kMaxEntries) return refuse(Fault::kTooMany);
  return enter();
}

bool PayloadVisitor::start_array(uint32_t elements) {
  if (depth_ == 0) return refuse(Fault::kNotAMap);
  const StringsTarget* target = wanted<StringsTarget>();
  if (field_ != nullptr && target == nullptr) return refuse(Fault::kWrongType);
  if (elements > (target != nullptr ? target->max_elements : kMaxElements)) return refuse(Fault::kTooMany);
  if (target != nullptr) target->out->reserve(elements);
  return enter();
}

bool PayloadVisitor::integer(uint64_t value) {
  const UintTarget* target = in_key_ ? nullptr : wanted<UintTarget>();
  if (target == nullptr) return other();
  if (value < target->min || value > target->max) return refuse(Fault::kOutOfRange);
  *target->out = value;
  return true;
}

bool PayloadVisitor::string(std::string_view text) {
  if (depth_ == 0) return refuse(Fault::kNotAMap);
  if (in_key_ && text.size() > kMaxKey) return refuse(Fault::kTooLong);
  if (!valid_utf8(text)) return refuse(Fault::kBadUtf8);
  if (in_key_) return key(text);
  if (field_ == nullptr) return true;
  if (const StringTarget* target = wanted<StringTarget>()) {
    if (text.size() > target->max_bytes) return refuse(Fault::kTooLong);
    target->out->assign(text);
    return true;
  }
  const auto* strings = std::get_if<StringsTarget>(&field_->target);
  if (strings == nullptr || depth_ != 2) return refuse(Fault::kWrongType);
  strings->out->emplace_back(text);
  return true;
}

bool PayloadVisitor::key(std::string_view text) {
  auto& seen = keys_[depth_ - 1];
  if (std::find(seen.begin(), seen.end(), text) != seen.end()) return refuse(Fault::kDuplicateKey);
  seen.push_back(text);
  if (depth_ > 1) return true;
  const auto found = std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) { return field.key == text; });
  if (found != fields_.end()) {
    field_ = &*found;
    field_->seen = true;
  }
  return true;
}

}  // namespace

void read_payload(std::string_view payload, std::span<Field> fields) {
  PayloadVisitor visitor(fields);
  size_t end = 0;
  msgpack::parse(payload.data(), payload.size(), end, visitor);
  if (visitor.fault()) throw ProtocolError(*visitor.fault(), visitor.where());
  if (end != payload.size()) throw ProtocolError(Fault::kTrailingBytes, "payload");
  for (const Field& field : fields) {
    if (field.required && !field.seen) throw ProtocolError(Fault::kMissingField, std::string(field.key));
  }
}

}  // namespace ranking::ipc
