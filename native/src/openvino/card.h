// card.json of a model directory: the identity and limits that no model file carries.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "task/task.h"

namespace ranking::openvino {

struct Card {
  std::string id;           // as clients name the model
  std::string revision;     // may be empty
  std::string family;       // architecture, such as bert
  std::string precision;    // int8 or f32: what the weights and kernels are
  uint32_t max_tokens = 0;  // per pair, special tokens included
  ScoreKind score_kind = ScoreKind::kLogit;
};

// Required: id, family, precision, max_tokens (8 to 65536), score_kind (logit, probability, unbounded). Optional: revision, and
// the notes license, source. Throws std::runtime_error that names the file and the field.
Card read_card(const std::filesystem::path& file);

}  // namespace ranking::openvino
