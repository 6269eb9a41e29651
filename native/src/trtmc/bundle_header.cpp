#include "trtmc/bundle_header.h"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace ranking::trtmc {
namespace {

constexpr std::string_view kMagic("BUNDLE\x01\x00", 8);

std::string read_exactly(std::istream& input, uint64_t size, const std::string& who) {
  std::string bytes(size, '\0');
  if (!input.read(bytes.data(), static_cast<std::streamsize>(size))) throw std::runtime_error(who + ": cut short in its header");
  return bytes;
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string field(const nlohmann::json& header, const char* name, const std::string& who) {
  const auto found = header.find(name);
  if (found == header.end() || !found->is_string()) throw std::runtime_error(who + ": its header has no string '" + name + "'");
  return found->get<std::string>();
}

}  // namespace

BundleHeader read_bundle_header(const std::filesystem::path& bundle) {
  const std::string who = bundle.string();
  std::ifstream input(bundle, std::ios::binary);
  if (!input) throw std::runtime_error("cannot open the bundle " + who);
  if (read_exactly(input, kMagic.size(), who) != kMagic) throw std::runtime_error(who + ": not a TRTMC bundle of format 1");
  const uint64_t size = little_endian(read_exactly(input, 8, who));
  if (size > kMaxHeaderBytes)
    throw std::runtime_error(who + ": a header of " + std::to_string(size) + " bytes is over the limit");
  std::string text = read_exactly(input, size, who);
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw std::runtime_error(who + ": its header is not a JSON object");
  return {field(json, "family", who), field(json, "task", who), field(json, "backend", who), std::move(text)};
}

void refuse_encoders(const std::filesystem::path& bundle, const std::string& declared_task) {
  // The first two are the names of old bundles; newer ones declare the id of their first Task.
  const bool encoder = declared_task == "encoding" || declared_task == "embedding" || declared_task.ends_with("_to_embedding") ||
                       declared_task.ends_with("_features");
  if (!encoder) return;
  throw std::runtime_error(bundle.string() + ": the bundle declares the task '" + declared_task +
                           "': it is not a trained reranker, whatever interfaces it offers");
}

}  // namespace ranking::trtmc
