// For LD_PRELOAD: the wall clock of a process jumps by up to an hour to either side, to another place every 4 ms. The monotonic
// clocks go on as they are. Whatever measures time by the wall clock shows.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

namespace {

timespec read_clock(clockid_t clock) {
  timespec time{};
  ::syscall(SYS_clock_gettime, clock, &time);
  return time;
}

// Seconds by which the wall clock is off now: the same multiplicative hash of monotonic time as in conformance/e2e/clock_test.go.
time_t jump() {
  const auto now = read_clock(CLOCK_MONOTONIC);
  const auto ticks = (static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec)) >> 22;
  return static_cast<time_t>(ticks * 2654435761 % 7201) - 3600;
}

timespec jumping() {
  auto time = read_clock(CLOCK_REALTIME);
  time.tv_sec += jump();
  return time;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (!wall) return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  *time = jumping();
  return 0;
}

int gettimeofday(timeval* time, void*) noexcept {
  const auto now = jumping();
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* seconds) noexcept {
  const auto now = jumping().tv_sec;
  if (seconds) *seconds = now;
  return now;
}
}
