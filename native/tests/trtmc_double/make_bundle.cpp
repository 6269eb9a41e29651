// make-bundle FILE [JSON]: writes a bundle for the double; JSON overrides parts of its header (README.md beside this file).
#include <cstdio>

#include "bundle_file.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return std::fprintf(stderr, "usage: make-bundle FILE [JSON]\n"), 2;
  try {
    trtmc_double::write_bundle(argv[1], nlohmann::json::parse(argc == 3 ? argv[2] : "{}"));
  } catch (const std::exception& failure) {
    return std::fprintf(stderr, "make-bundle: %s\n", failure.what()), 1;
  }
}
