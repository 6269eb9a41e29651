// The tables of the two ranking Tasks.
#pragma once

#include <trtmc/trtmc.h>

#include <string>

namespace trtmc_double {

// The table of the Task `id`, broken as `defect` says ("", "short", "major", "no_run"); null for another Task.
const trtmc_api_header* task_table(const std::string& id, const std::string& defect);

}  // namespace trtmc_double
