#include "backends.h"

#include "null/null_task.h"
#include "null/options.h"

#ifdef RANKING_WITH_OPENVINO
#include "openvino/openvino_task.h"
#include "openvino/options.h"
#endif
#ifdef RANKING_WITH_TRTMC
#include "trtmc/options.h"
#include "trtmc/trtmc_task.h"
#endif

namespace ranking {
namespace {

// The options live as long as the closure that reads them.
template <typename Options, typename AddOptions, typename Make>
Backend backend(CLI::App& app, std::string name, std::string versions, AddOptions add_options, Make make) {
  auto options = std::make_shared<Options>();
  add_options(app, *options);
  return {std::move(name), std::move(versions), [options, make] { return make(*options); }};
}

}  // namespace

std::vector<Backend> register_backends(CLI::App& app) {
  std::vector<Backend> all;
  all.push_back(backend<NullOptions>(app, "null", null_versions(), add_null_options, make_null_task));
#ifdef RANKING_WITH_OPENVINO
  all.push_back(backend<OpenvinoOptions>(app, "openvino", openvino_versions(), add_openvino_options, make_openvino_task));
#endif
#ifdef RANKING_WITH_TRTMC
  all.push_back(backend<TrtmcOptions>(app, "trtmc", trtmc_versions(), add_trtmc_options, make_trtmc_task));
#endif
  return all;
}

}  // namespace ranking
