// Writes bundles for the double.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace trtmc_double {

// A bundle with the default header, merged with `header` as JSON merge patches are (RFC 7396).
void write_bundle(const std::filesystem::path& file, const nlohmann::json& header);

// The same with these bytes as the header, whatever they are.
void write_bundle_bytes(const std::filesystem::path& file, const std::string& header);

}  // namespace trtmc_double
