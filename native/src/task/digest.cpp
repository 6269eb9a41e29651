#include "task/digest.h"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace ranking {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
      throw std::runtime_error("sha256 is not available");
  }

  void update(std::string_view bytes) {
    if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) throw std::runtime_error("sha256 failed");
  }

  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> raw;
    unsigned size = 0;
    if (EVP_DigestFinal_ex(context_.get(), raw.data(), &size) != 1) throw std::runtime_error("sha256 failed");
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += {digits[raw[i] >> 4], digits[raw[i] & 15]};
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

std::string file_hex(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  if (!input) throw std::runtime_error("cannot open " + file.string());
  Sha256 hash;
  std::vector<char> block(1 << 20);
  while (input.read(block.data(), static_cast<std::streamsize>(block.size())), input.gcount() > 0) {
    hash.update({block.data(), static_cast<size_t>(input.gcount())});
  }
  if (input.bad() || !input.eof()) throw std::runtime_error("cannot read " + file.string());
  return hash.hex();
}

}  // namespace

std::string file_digest(const std::filesystem::path& file) { return "sha256:" + file_hex(file); }

std::string files_digest(std::span<const std::filesystem::path> files) {
  Sha256 hash;
  for (const auto& file : files) hash.update(file_hex(file) + "  " + file.filename().string() + "\n");
  return "sha256:" + hash.hex();
}

}  // namespace ranking
