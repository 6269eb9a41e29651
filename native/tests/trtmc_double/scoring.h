// Plausible scores: how many of the query's words a document has, and a small seeded part that tells equal overlaps apart.
#pragma once

#include <cstdint>
#include <string_view>

#include "settings.h"

namespace trtmc_double {

// A logit between about -6 and 6, before scale, weights and offsets. The same for the same arguments, always. `position` is the
// document's.
float score(uint64_t seed, const Settings& settings, std::string_view query, std::string_view document, size_t position);

// Words are runs of letters and digits, of any case, and of bytes over 127.
size_t count_words(std::string_view text);

}  // namespace trtmc_double
