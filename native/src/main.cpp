#include "backends.h"
#include "log/log.h"

int main(int argc, char** argv) {
  CLI::App app("ranking-task");
  const auto backends = ranking::register_backends(app);
  CLI11_PARSE(app, argc, argv);
  ranking::log::info("built", {{"version", RANKING_VERSION}, {"commit", RANKING_COMMIT}, {"backends", backends.size()}});
}
