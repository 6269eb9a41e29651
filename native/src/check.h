// --check: is this Task fit to serve, and what is it.
#pragma once

#include <ostream>

#include "task/task.h"

namespace ranking {

// Scores one built-in pair and prints identity, details, the score and its timing, one "name  value" a line.
// Returns false, with the reason printed, if the Task answers with an error or not within a minute.
bool check(Task& task, std::ostream& out);

}  // namespace ranking
