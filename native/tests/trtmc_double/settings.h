// The controls of the double's family, one of each type, and what a caller set them to. Each has an effect that a test can see.
#pragma once

#include <trtmc/trtmc.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace trtmc_double {

struct Settings {
  int64_t max_words = 0;                // longer documents are rejected; 0: none are
  double scale = 1;                     // times every score
  bool squash = false;                  // scores become probabilities
  std::string fault;                    // in every run
  std::vector<int64_t> offsets;         // added to the score of each document, by position
  std::vector<double> weights;          // times the score of each document, by position
  std::vector<std::string> stop_words;  // not counted as shared
};

constexpr size_t kFields = 7;

trtmc_config_field_v1 field(uint64_t index);

// Throws Failure INVALID_CONFIG for a name it does not have, a second value, a wrong type or range.
Settings read_settings(const trtmc_config_view_v1* config);

}  // namespace trtmc_double
