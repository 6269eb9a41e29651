// SHA-256 of the files a Task serves, the `bundle_digest` of ipc/PROTOCOL.md.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace ranking {

// "sha256:<64 hex digits>" over the bytes of one file. Throws std::runtime_error that names the file when it cannot be read.
std::string file_digest(const std::filesystem::path& file);

// The same over several files: the digest of the text that `sha256sum` prints for them ("<hex>  <file name>\n", without folders),
// in the order given, so that it can be checked by hand.
std::string files_digest(std::span<const std::filesystem::path> files);

}  // namespace ranking
