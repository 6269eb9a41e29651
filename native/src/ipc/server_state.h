// What a server and its connections share: the Task, the bounds and the counters.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "task/task.h"

namespace ranking::ipc {

struct ServerOptions {
  std::string name = "ranking-task";    // name and version, sent in welcome
  size_t max_connections = 64;          // more are answered server_busy and closed
  size_t max_in_flight = 1024;          // ranks of one connection, and pings; more are answered server_busy
  size_t max_unread_bytes = 64u << 20;  // answers the client has not read; beyond, its connection is closed
  uint32_t frame_timeout_ms = 10000;    // for hello to come, and for the rest of a begun frame
  uint32_t drain_timeout_ms = 30000;    // for accepted ranks to finish after SIGTERM
  std::vector<uid_t> peer_uids;         // who may connect; empty: whoever the socket's mode lets in
};

// Monotonic totals since start; ipc/PROTOCOL.md, section 9, has their names and meaning. Any thread.
struct ServerCounters {
  std::atomic<uint64_t> connections{0};
  std::atomic<uint64_t> connections_refused{0};
  std::atomic<uint64_t> accept_errors{0};
  std::atomic<uint64_t> protocol_errors{0};
  std::atomic<uint64_t> slow_readers{0};
  std::atomic<uint64_t> ranks{0};
  std::atomic<uint64_t> ranks_ok{0};
  std::array<std::atomic<uint64_t>, static_cast<size_t>(ErrorCode::kUnsupportedVersion) + 1> ranks_failed{};  // by code
  std::atomic<uint64_t> answers_unsent{0};

  void count_answer(const RankOutcome& outcome);
  void add_to(std::map<std::string, uint64_t>& counters) const;
};

// Held by every connection, which a completion may keep alive longer than the server. The Task is used on the io thread only,
// while the server lives.
struct ServerState {
  ServerState(Task& served, ServerOptions chosen) : task(served), options(std::move(chosen)) {}

  Task& task;
  const ServerOptions options;
  ServerCounters counters;
  std::atomic<bool> draining{false};
  Ticket last_ticket = 0;  // io thread
};

}  // namespace ranking::ipc
