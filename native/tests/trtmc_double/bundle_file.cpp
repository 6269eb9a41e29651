#include "bundle_file.h"

#include <fstream>
#include <stdexcept>

namespace trtmc_double {

void write_bundle(const std::filesystem::path& file, const nlohmann::json& header) {
  nlohmann::json whole = {{"format", 1},
                          {"family", "double"},
                          {"task", "reranking"},
                          {"backend", "double"},
                          {"sections", {{"engine.plan", {{"offset", 0}, {"length", 4}}}}}};
  whole.merge_patch(header);
  write_bundle_bytes(file, whole.dump());
}

void write_bundle_bytes(const std::filesystem::path& file, const std::string& header) {
  std::ofstream output(file, std::ios::binary);
  output.write("BUNDLE\x01\x00", 8);
  for (unsigned shift = 0; shift < 64; shift += 8) output.put(static_cast<char>(header.size() >> shift & 255));
  output << header << "PLAN";
  if (!output.flush()) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace trtmc_double
