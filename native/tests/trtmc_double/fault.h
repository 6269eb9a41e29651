// Faults that a text or a control asks of a run: "double:NAME[=N]", see README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trtmc_double {

struct Fault {
  std::string name;  // empty: none
  int64_t number = 0;

  bool is(std::string_view wanted) const { return name == wanted; }
};

// No fault if the text does not begin with "double:".
Fault read_fault(std::string_view text);

// Those that strike before there is a result: status, silent, binary, sleep, gate, crash. Throws Failure.
void strike(const Fault& fault);

// Lets runs through that wait at the gate, and those to come; or holds those to come.
void open_gate(bool open);

}  // namespace trtmc_double
