// UTF-8 as Unicode defines it: no surrogates, no overlong forms, nothing beyond U+10FFFF.
#pragma once

#include <string>
#include <string_view>

namespace ranking::ipc {

bool valid_utf8(std::string_view text);

// The text with each byte that is not UTF-8 replaced by '?', cut between characters to at most max_bytes.
std::string repair_utf8(std::string_view text, size_t max_bytes);

}  // namespace ranking::ipc
