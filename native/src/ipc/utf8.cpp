#include "ipc/utf8.h"

#include <cstdint>
#include <cstring>

namespace ranking::ipc {
namespace {

bool eight_ascii(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return (word & 0x8080808080808080u) == 0;
}

bool between(unsigned char byte, unsigned char low, unsigned char high) { return byte >= low && byte <= high; }

// The length of the character at the start of text, 0 if it is not UTF-8. The bounds of the second byte are of table 3-7 of the
// Unicode standard: they are what excludes overlong forms, surrogates and values beyond the last code point.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : '\0'; };
  const auto tail = [&](size_t i) { return between(byte(i), 0x80, 0xBF); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (between(first, 0xC2, 0xDF)) return tail(1) ? 2 : 0;
  if (between(first, 0xE0, 0xEF)) {
    const bool second = between(byte(1), first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
    return second && tail(2) ? 3 : 0;
  }
  if (between(first, 0xF0, 0xF4)) {
    const bool second = between(byte(1), first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool valid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (text.size() - at >= 8 && eight_ascii(text.data() + at)) {
      at += 8;
      continue;
    }
    const size_t length = character_length(text.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string repair_utf8(std::string_view text, size_t max_bytes) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = character_length(text.substr(at));
    if (out.size() + (length == 0 ? 1 : length) > max_bytes) break;
    if (length == 0) {
      out += '?';
    } else {
      out += text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace ranking::ipc
