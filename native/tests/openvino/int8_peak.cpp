// ranking-int8-peak: the bound that the cores set to any int8 model. A loop of AVX512-VNNI dot products on registers alone, on
// one thread and on one a core at once; prints multiply-adds a second. x86-64 with AVX512-VNNI only.
//
//   ranking-int8-peak [MULTIPLY_ADDS_PER_TOKEN]      then in tokens a second, too
#include <immintrin.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kChains = 12;  // independent sums, so that latency hides
constexpr int kPerDot = 64;  // multiply-adds of one instruction
constexpr double kSeconds = 1;

// Named one by one: gcc keeps an array of them in memory.
__attribute__((target("avx512f,avx512vnni"))) double multiply_adds_per_second() {
  // Different from the start, else the compiler computes one of them alone.
  __m512i s0 = _mm512_set1_epi32(0), s1 = _mm512_set1_epi32(1), s2 = _mm512_set1_epi32(2), s3 = _mm512_set1_epi32(3),
          s4 = _mm512_set1_epi32(4), s5 = _mm512_set1_epi32(5);
  __m512i s6 = _mm512_set1_epi32(6), s7 = _mm512_set1_epi32(7), s8 = _mm512_set1_epi32(8), s9 = _mm512_set1_epi32(9),
          s10 = _mm512_set1_epi32(10), s11 = _mm512_set1_epi32(11);
  const __m512i a = _mm512_set1_epi8(3);
  const __m512i b = _mm512_set1_epi8(5);
  const auto begin = Clock::now();
  double rounds = 0;
  double took = 0;
  do {
    for (int i = 0; i < 10000; ++i) {
      s0 = _mm512_dpbusd_epi32(s0, a, b), s1 = _mm512_dpbusd_epi32(s1, a, b), s2 = _mm512_dpbusd_epi32(s2, a, b);
      s3 = _mm512_dpbusd_epi32(s3, a, b), s4 = _mm512_dpbusd_epi32(s4, a, b), s5 = _mm512_dpbusd_epi32(s5, a, b);
      s6 = _mm512_dpbusd_epi32(s6, a, b), s7 = _mm512_dpbusd_epi32(s7, a, b), s8 = _mm512_dpbusd_epi32(s8, a, b);
      s9 = _mm512_dpbusd_epi32(s9, a, b), s10 = _mm512_dpbusd_epi32(s10, a, b), s11 = _mm512_dpbusd_epi32(s11, a, b);
    }
    rounds += 10000;
    took = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (took < kSeconds);
  for (auto sum : {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11}) asm volatile("" : : "v"(sum));
  return rounds * kChains * kPerDot / took;
}

double on_threads(unsigned count) {
  std::vector<double> speeds(count);
  std::vector<std::thread> threads;
  for (auto& speed : speeds) threads.emplace_back([&speed] { speed = multiply_adds_per_second(); });
  double sum = 0;
  for (unsigned i = 0; i < count; ++i) {
    threads[i].join();
    sum += speeds[i];
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (!__builtin_cpu_supports("avx512vnni")) {
    std::fputs("this CPU has no AVX512-VNNI\n", stderr);
    return 1;
  }
  const double per_token = argc > 1 ? std::atof(argv[1]) : 0;
  for (const unsigned threads : {1u, std::thread::hardware_concurrency()}) {
    const double speed = on_threads(threads);
    std::printf("%u threads: %.0f billion int8 multiply-adds a second", threads, speed / 1e9);
    if (per_token > 0) std::printf(", %.0f tokens a second", speed / per_token);
    std::puts("");
  }
}
