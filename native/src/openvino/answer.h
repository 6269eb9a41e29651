// From a scored job to what its client gets.
#pragma once

#include "openvino/job.h"

namespace ranking::openvino {

// Scores, token counts and times of a job whose pairs are all scored, in passage order.
RankScores answer_of(const Job& job);

}  // namespace ranking::openvino
