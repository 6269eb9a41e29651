// What the trtmc Task adds to a rank over calling the ABI directly, on the double with no work: the same ranks, alternating, one
// at a time.
//   trtmc-overhead [RANKS [PASSAGES]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "direct.h"
#include "fixture.h"
#include "trtmc/trtmc_task.h"

namespace {

using namespace ranking;
using namespace ranking::trtmc;

double percentile(std::vector<double>& sorted, double part) {
  return sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
}

void print(const char* name, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("%-22s p50 %8.1f us   p90 %8.1f us   p99 %8.1f us\n", name, percentile(times, 0.5), percentile(times, 0.9),
              percentile(times, 0.99));
}

template <typename Body>
double microseconds(Body body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 50000;
  const size_t passages = argc > 2 ? static_cast<size_t>(std::atoi(argv[2])) : 32;
  if (ranks < 1 || passages < 1) return std::fprintf(stderr, "usage: trtmc-overhead [RANKS [PASSAGES]]\n"), 2;
  const Folder folder;
  auto options = options_for(folder, {{"double", {{"work", false}}}});
  options.max_passages = static_cast<uint32_t>(passages);
  const auto task = make_trtmc_task(options);
  Direct direct(options.runtime_root, options.bundle);
  const RankRequest rank = request("a query of some words", std::vector<std::string>(passages, std::string(600, 'x')));

  std::vector<double> straight, through, added;
  for (int i = 0; i < ranks; ++i) {
    RankRequest copy = rank;  // a client's request is moved in, so the copy is not counted
    straight.push_back(microseconds([&] { direct.run(rank.query, rank.passages); }));
    through.push_back(microseconds([&] { ask(*task, std::move(copy)); }));
    added.push_back(through.back() - straight.back());
  }
  std::printf("%d ranks of %zu passages\n", ranks, passages);
  print("direct ABI call", straight);
  print("through the Task", through);
  print("added by the Task", added);
}
