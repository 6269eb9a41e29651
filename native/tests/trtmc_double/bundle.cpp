#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "objects.h"

namespace trtmc_double {

Bundle read_bundle(const std::string& path) {
  std::ifstream input(path, std::ios::binary);
  if (!input) throw Failure{TRTMC_INVALID_ARGUMENT, "cannot open " + path};
  const std::string bytes{std::istreambuf_iterator<char>(input), {}};
  require(bytes.size() >= 16 && bytes.compare(0, 8, std::string("BUNDLE\x01\x00", 8)) == 0, "not a bundle");
  uint64_t size = 0;
  for (int i = 7; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(bytes[static_cast<size_t>(8 + i)]);
  require(size <= bytes.size() - 16, "the header is cut short");
  const auto header = nlohmann::json::parse(bytes.substr(16, size), nullptr, false);
  require(header.is_object(), "the header is not JSON");

  const auto told = header.value("double", nlohmann::json::object());
  Bundle bundle;
  bundle.family = header.value("family", "");
  bundle.task = header.value("task", "");
  bundle.backend = header.value("backend", "");
  bundle.tasks =
      told.value("tasks", std::vector<std::string>{"text_query_documents_to_relevance 1.0", "text_pair_to_relevance 1.0"});
  bundle.score_kind = told.value("score_kind", bundle.score_kind);
  bundle.seed = told.value("seed", bundle.seed);
  bundle.work = told.value("work", bundle.work);
  bundle.null_task_api = told.value("null_task_api", false);
  bundle.task_table = told.value("task_table", "");
  bundle.fail = told.value("fail", bundle.fail);
  return bundle;
}

}  // namespace trtmc_double
