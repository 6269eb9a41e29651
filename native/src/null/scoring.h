// What the null Task computes in place of a model: documented, so that a test can compute the same elsewhere.
//
// A token is a word: a longest run of bytes other than space, \t, \n, \v, \f and \r. A pair has words(query) + words(passage) + 3
// tokens, as if it had special tokens. Cutting follows ipc/PROTOCOL.md, section 6, with words for tokens; what is left of a cut
// text runs from the first byte of its first kept word to the last byte of its last one. An uncut text stays whole, outer blanks
// included.
//
// The score of a pair is FNV-1a (64 bits) over the bytes of the query, one byte 0x1F, and the bytes of the passage, as cut; its
// upper 24 bits h give the float32 nearest to h * 20 / 2^24 - 10, so that scores lie in [-10, 10) and nearly always differ.
#pragma once

#include <cstdint>
#include <string_view>

#include "task/task.h"

namespace ranking {

float null_score(std::string_view query, std::string_view passage);

// The whole of a rank: scores and token counts with timing left 0, or input_too_long.
RankOutcome null_rank(const RankRequest& request, uint32_t max_tokens);

}  // namespace ranking
