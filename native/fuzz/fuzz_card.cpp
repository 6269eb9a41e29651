// card.json with any content: a card within its limits, or an error that names the file.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "openvino/card.h"
#include "require.h"

namespace {

// In memory where there is such a place; removed when the process ends in order.
struct File {
  std::filesystem::path path = folder() / ("fuzz_card." + std::to_string(getpid()));

  ~File() { std::filesystem::remove(path); }

  static std::filesystem::path folder() {
    return std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const File file;
  std::ofstream(file.path, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const auto card = ranking::openvino::read_card(file.path);
    require(card.max_tokens >= 8 && card.max_tokens <= 65536);
    for (const auto* text : {&card.id, &card.family, &card.precision}) require(!text->empty() && text->size() <= 4096);
    require(card.revision.size() <= 4096);
  } catch (const std::runtime_error& refusal) {
    require(std::string(refusal.what()).starts_with(file.path.string()));
  }
  return 0;
}
