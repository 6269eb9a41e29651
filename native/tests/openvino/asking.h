// Futures over the interface of task.h, for tests of Scheduler and Task alike.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "task/task.h"

namespace ranking {

inline RankRequest request_of(std::vector<std::string> passages, std::string query = "w0", Truncate truncate = Truncate::kNone) {
  RankRequest request;
  request.id = "test";
  request.query = std::move(query);
  request.passages = std::move(passages);
  request.truncate = truncate;
  return request;
}

template <typename Target>
std::future<RankOutcome> submit(Target& target, Ticket ticket, RankRequest request) {
  auto promise = std::make_shared<std::promise<RankOutcome>>();
  auto answer = promise->get_future();
  target.submit(ticket, std::move(request), [promise](RankOutcome outcome) { promise->set_value(std::move(outcome)); });
  return answer;
}

template <typename Target>
TaskHealth health_of(Target& target) {
  auto promise = std::make_shared<std::promise<TaskHealth>>();
  auto answer = promise->get_future();
  target.health([promise](TaskHealth health) { promise->set_value(std::move(health)); });
  return answer.get();
}

// Asks for the health until it is as wanted. What is wanted must come; the test's time limit ends it otherwise.
template <typename Target, typename Wanted>
void wait_until(Target& target, Wanted wanted) {
  while (!wanted(health_of(target))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

inline RankScores scores_of(std::future<RankOutcome>&& answer) { return std::get<RankScores>(answer.get()); }
inline RankError error_of(std::future<RankOutcome>&& answer) { return std::get<RankError>(answer.get()); }

}  // namespace ranking
