// One owning type per kind of handle that the ABI gives out: nothing else releases one. Release functions accept null.
#pragma once

#include <memory>

#include "trtmc/abi.h"

namespace ranking::trtmc {

using ModelHandle = std::unique_ptr<abi::Model, void (*)(abi::Model*)>;
using ResultHandle = std::unique_ptr<abi::Result, void (*)(abi::Result*)>;
using ErrorHandle = std::unique_ptr<abi::Error, void (*)(abi::Error*)>;

}  // namespace ranking::trtmc
