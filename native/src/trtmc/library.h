// Finds the TRTMC runtime in its directory and checks its tables before anything in them is used.
#pragma once

#include <filesystem>
#include <string_view>

#include "trtmc/abi.h"

namespace ranking::trtmc {

// Opens libtrtmc_c.so.1 in runtime_root and returns its core table of version 1.0: complete, and nothing that this Task calls is
// null. Throws std::runtime_error that names the file and what is wrong with it. The library stays loaded for the life of the
// process: CUDA and TensorRT do not bear being unloaded.
const abi::CoreApi& open_runtime(const std::filesystem::path& runtime_root);

// The table behind a header that the runtime gave for the Task `id`, checked in the same way.
const abi::DocumentsApi& documents_table(const abi::ApiHeader* header);
const abi::PairApi& pair_table(const abi::ApiHeader* header);

}  // namespace ranking::trtmc
