// The rules of ipc/PROTOCOL.md, section 8, over real sockets, with a Task whose answers the test gives.
#include "ipc/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <memory>
#include <system_error>

#include "client.h"
#include "running_server.h"
#include "scripted_task.h"

namespace ranking::ipc {
namespace {

constexpr uint8_t kWelcome = 2, kScores = 4, kError = 5, kPong = 8, kGoaway = 9;

class ServerTest : public ::testing::Test {
 protected:
  void serve(ServerOptions options = {}) { server_.emplace(io_, task_, std::move(options)); }
  std::string path() const { return server_->path(); }

  // Sends the rank and waits until the Task has it.
  ScriptedTask::Request send_rank(Client& client, uint64_t exchange, const std::string& id) {
    const size_t index = task_.submitted();
    client.send(rank_frame(exchange, id, "query", {"first", "second"}));
    return task_.request(index);
  }

  asio::io_context io_;
  ScriptedTask task_;
  std::optional<RunningServer> server_;
};

void expect_error(const std::optional<Answer>& answer, uint64_t exchange, const std::string& code) {
  ASSERT_TRUE(answer) << "closed instead of " << code;
  ASSERT_EQ(answer->type, kError);
  EXPECT_EQ(answer->exchange, exchange);
  EXPECT_EQ(answer->text("code"), code);
}

TEST_F(ServerTest, WelcomesWithTheIdentityOfTheTask) {
  serve({.name = "ranking-task 9"});
  Client client(path());
  const Answer welcome = client.greet();
  EXPECT_EQ(welcome.type, kWelcome);
  EXPECT_EQ(welcome.exchange, 0u);
  EXPECT_EQ(welcome.text("server"), "ranking-task 9");
  EXPECT_EQ(welcome.text("model"), "scripted");
  EXPECT_EQ(welcome.uint("max_passages"), 1000u);
}

TEST_F(ServerTest, CarriesARankToTheTaskAndItsScoresBack) {
  serve();
  Client client(path());
  client.greet();
  const auto before = Clock::now();
  client.send(rank_frame(1, "r-1", "the query", {"one", "two"}, 5000, "END"));
  const auto [ticket, request] = task_.request(0);
  EXPECT_EQ(request.id, "r-1");
  EXPECT_EQ(request.query, "the query");
  EXPECT_EQ(request.passages, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(request.truncate, Truncate::kEnd);
  ASSERT_TRUE(request.deadline);
  EXPECT_GE(*request.deadline, before + std::chrono::seconds(5));

  RankScores scores = scores_of({-0.0f, 1.5f});
  scores.tokens = TokenCounts{{11, 12}, 1, 4};
  scores.timing = {250, 90, 4211, 2};
  task_.answer(ticket, scores);
  const auto answer = client.read();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->type, kScores);
  EXPECT_EQ(answer->exchange, 1u);
  EXPECT_EQ(answer->text("id"), "r-1");
  EXPECT_EQ(answer->scores(), (std::vector<float>{-0.0f, 1.5f}));
  EXPECT_TRUE(std::signbit(answer->scores()[0]));
  EXPECT_EQ(answer->uint("queue_us"), 250u);
  EXPECT_EQ(answer->uint("public_task_call_wall_us"), 4211u);
  EXPECT_EQ(answer->uint("truncated"), 1u);
}

TEST_F(ServerTest, AnswersManyInFlightInTheOrderTheTaskFinishesThem) {
  serve();
  Client client(path());
  client.greet();
  constexpr uint64_t kRanks = 200;
  std::vector<Ticket> tickets;
  for (uint64_t i = 1; i <= kRanks; ++i) tickets.push_back(send_rank(client, i, std::to_string(i)).first);
  for (uint64_t i = kRanks; i >= 1; --i) task_.answer(tickets[i - 1], scores_of({static_cast<float>(i), 0}));
  for (uint64_t i = kRanks; i >= 1; --i) {
    const auto answer = client.read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->exchange, i);
    EXPECT_EQ(answer->text("id"), std::to_string(i));
    EXPECT_EQ(answer->scores()[0], static_cast<float>(i));
  }
}

TEST_F(ServerTest, ReadsFramesCutAtEveryByte) {
  serve();
  const std::string stream = hello_frame() + rank_frame(1, "r1", "q", {"p"});
  for (size_t cut = 1; cut < stream.size(); ++cut) {
    Client client(path());
    client.send(stream.substr(0, cut));
    ::usleep(200);
    client.send(stream.substr(cut));
    const auto welcome = client.read();
    ASSERT_TRUE(welcome);
    ASSERT_EQ(welcome->type, kWelcome);
    const auto [ticket, request] = task_.request(cut - 1);
    task_.answer(ticket, scores_of({1}));
    const auto answer = client.read();
    ASSERT_TRUE(answer) << "cut at " << cut;
    EXPECT_EQ(answer->type, kScores);
  }
}

TEST_F(ServerTest, EndsTheConnectionOnAProtocolErrorAndSaysWhy) {
  serve();
  std::string oversized = frame(3, 1, "");
  oversized.replace(0, 4, "\xFF\xFF\xFF\xFF", 4);
  const std::pair<const char*, std::string> broken[] = {
      {"oversized", hello_frame() + oversized},
      {"no hello", ping_frame(1)},
      {"hello twice", hello_frame() + hello_frame()},
      {"bad payload", hello_frame() + frame(3, 1, "\xC1")},
      {"wrong direction", hello_frame() + frame(kScores, 1, "\x80")},
      {"unknown type", hello_frame() + frame(77, 1, "\x80")},
      {"exchange used before", hello_frame() + rank_frame(4, "a", "q", {"p"}) + rank_frame(4, "b", "q", {"p"})},
      {"exchange counting down", hello_frame() + rank_frame(4, "a", "q", {"p"}) + ping_frame(3)},
      {"cancel with fields of the wrong kind", hello_frame() + frame(6, 1, "\x90")},
  };
  for (const auto& [name, bytes] : broken) {
    SCOPED_TRACE(name);
    Client client(path());
    client.send(bytes);
    auto answer = client.read();
    if (answer && answer->type == kWelcome) answer = client.read();
    expect_error(answer, 0, "protocol_error");
    EXPECT_FALSE(client.read()) << "the connection must be closed";
  }
  Client next(path());
  EXPECT_EQ(next.greet().type, kWelcome) << "others are served on";
}

TEST_F(ServerTest, RefusesAnotherProtocolVersion) {
  serve();
  Client client(path());
  client.send(hello_frame(2));
  expect_error(client.read(), 0, "unsupported_version");
  EXPECT_FALSE(client.read());
}

TEST_F(ServerTest, RefusesRanksThatBreakARuleOfTheTaskAndGoesOn) {
  serve();
  Client client(path());
  client.greet();
  client.send(rank_frame(1, "none", "q", {}));
  expect_error(client.read(), 1, "invalid_request");
  client.send(rank_frame(2, "many", "q", std::vector<std::string>(1001, "p")));
  expect_error(client.read(), 2, "invalid_request");
  EXPECT_EQ(task_.submitted(), 0u) << "the Task never sees them";
  task_.answer(send_rank(client, 3, "good").first, scores_of({1, 2}));
  EXPECT_EQ(client.read()->type, kScores);
}

TEST_F(ServerTest, NeverPassesOnScoresThatBreakTheInterface) {
  serve();
  Client client(path());
  client.greet();
  task_.answer(send_rank(client, 1, "few").first, scores_of({1}));
  expect_error(client.read(), 1, "backend_failed");
  task_.answer(send_rank(client, 2, "nan").first, scores_of({1, std::numeric_limits<float>::quiet_NaN()}));
  expect_error(client.read(), 2, "backend_failed");
  task_.answer(send_rank(client, 3, "infinite").first, scores_of({-std::numeric_limits<float>::infinity(), 1}));
  expect_error(client.read(), 3, "backend_failed");
}

TEST_F(ServerTest, CancelReachesTheTaskAndTheRankIsStillAnsweredOnce) {
  serve();
  Client client(path());
  client.greet();
  const auto first = send_rank(client, 1, "first").first;
  const auto second = send_rank(client, 2, "second").first;
  client.send(cancel_frame(1) + cancel_frame(99));
  task_.wait_cancelled(1);
  EXPECT_EQ(task_.cancelled(), std::vector<Ticket>{first}) << "an unknown exchange is ignored";
  task_.answer(first, RankError{.code = ErrorCode::kCancelled, .message = "cancelled"});
  expect_error(client.read(), 1, "cancelled");
  client.send(cancel_frame(1));  // answered already
  task_.answer(second, scores_of({1, 2}));
  EXPECT_EQ(client.read()->exchange, 2u);
  client.send(ping_frame(3));
  EXPECT_EQ(client.read()->type, kPong);
}

TEST_F(ServerTest, PongCarriesTheHealthOfTheTaskAndTheCountersOfTheServer) {
  serve();
  Client client(path());
  client.greet();
  client.send(ping_frame(1));
  const auto pong = client.read();
  ASSERT_TRUE(pong);
  EXPECT_EQ(pong->type, kPong);
  EXPECT_TRUE(pong->fields.at("ready").as<bool>());
  EXPECT_EQ(pong->uint("queued_requests"), 7u);
  const auto counters = pong->fields.at("counters").as<std::map<std::string, uint64_t>>();
  EXPECT_EQ(counters.at("connections_total"), 1u);
  EXPECT_GT(counters.at("cpu_us_total"), 0u);
  EXPECT_GT((pong->fields.at("gauges").as<std::map<std::string, uint64_t>>()).at("resident_bytes"), 0u);
}

TEST_F(ServerTest, CountsEveryRankOnceByItsOutcome) {
  serve();
  Client client(path());
  client.greet();
  const std::pair<std::string, RankOutcome> outcomes[] = {
      {"ranks_ok_total", scores_of({1, 2})},
      {"ranks_invalid_request_total", RankError{.code = ErrorCode::kInvalidRequest}},
      {"ranks_input_too_long_total", RankError{.code = ErrorCode::kInputTooLong}},
      {"ranks_backend_rejected_request_total", RankError{.code = ErrorCode::kBackendRejectedRequest}},
      {"ranks_server_busy_total", RankError{.code = ErrorCode::kServerBusy}},
      {"ranks_backend_unavailable_total", RankError{.code = ErrorCode::kBackendUnavailable}},
      {"ranks_backend_failed_total", scores_of({1})},  // one score is missing
      {"ranks_deadline_exceeded_total", RankError{.code = ErrorCode::kDeadlineExceeded}},
      {"ranks_cancelled_total", RankError{.code = ErrorCode::kCancelled}},
  };
  uint64_t exchange = 0;
  for (const auto& [name, outcome] : outcomes) {
    task_.answer(send_rank(client, ++exchange, "r").first, outcome);
    client.read();
    client.send(ping_frame(++exchange));
    const auto counters = client.read()->fields.at("counters").as<std::map<std::string, uint64_t>>();
    EXPECT_EQ(counters.at(name), 1u) << name;
  }
  client.send(rank_frame(++exchange, "r", "q", {}));
  expect_error(client.read(), exchange, "invalid_request");
  client.send(ping_frame(++exchange));
  const auto counters = client.read()->fields.at("counters").as<std::map<std::string, uint64_t>>();
  EXPECT_EQ(counters.at("ranks_invalid_request_total"), 2u) << "refused by the server itself";
  EXPECT_EQ(counters.at("ranks_total"), std::size(outcomes) + 1);
}

TEST_F(ServerTest, AClientThatLeavesHasItsRanksCancelled) {
  serve();
  std::vector<Ticket> tickets;
  {
    Client half(path());
    half.greet();
    tickets.push_back(send_rank(half, 1, "half-closed").first);
    half.shut_down_sending();
    EXPECT_FALSE(half.read()) << "closed, with nothing sent";
    Client gone(path());
    gone.greet();
    tickets.push_back(send_rank(gone, 1, "closed").first);
  }
  task_.wait_cancelled(2);
  EXPECT_EQ(task_.cancelled(), tickets);
  for (const Ticket ticket : tickets) task_.answer(ticket, scores_of({1, 2}));  // too late; must harm nobody
  Client next(path());
  EXPECT_EQ(next.greet().type, kWelcome);
}

TEST_F(ServerTest, BoundsWhatIsInFlightOnAConnection) {
  serve({.max_in_flight = 2});
  Client client(path());
  client.greet();
  const auto first = send_rank(client, 1, "a").first;
  send_rank(client, 2, "b");
  client.send(rank_frame(3, "c", "q", {"p"}) + ping_frame(4));
  expect_error(client.read(), 3, "server_busy");
  const auto pong = client.read();
  EXPECT_EQ(pong->type, kPong) << "a connection full of ranks is alive";
  EXPECT_EQ(pong->exchange, 4u);
  task_.answer(first, scores_of({1, 2}));
  EXPECT_EQ(client.read()->exchange, 1u);
  send_rank(client, 5, "d");
  EXPECT_EQ(task_.submitted(), 3u);
}

TEST_F(ServerTest, BoundsConnections) {
  serve({.max_connections = 1});
  auto first = std::make_unique<Client>(path());
  first->greet();
  Client second(path());
  expect_error(second.read(), 0, "server_busy");
  EXPECT_FALSE(second.read());
  first->send(ping_frame(1));
  EXPECT_EQ(first->read()->type, kPong);
}

TEST_F(ServerTest, ClosesAClientThatDoesNotReadItsAnswers) {
  serve({.max_in_flight = 100'000, .max_unread_bytes = 1u << 20});
  Client client(path());
  client.greet();
  const auto flood = [&] {
    // Each is answered with 4 kB; the socket's own buffers hold some hundred kB.
    for (uint64_t i = 1; i <= 2000; ++i) {
      client.send(rank_frame(i, "r", "q", std::vector<std::string>(1000, "p")));
      task_.answer(task_.request(i - 1).first, scores_of(std::vector<float>(1000, 1.0f)));
    }
  };
  EXPECT_THROW(flood(), std::exception);
  EXPECT_LT(task_.submitted(), 2000u);
}

TEST_F(ServerTest, ClosesAClientThatOwesTheRestOfAFrame) {
  serve({.frame_timeout_ms = 50});
  Client silent(path());
  Client slow(path());
  slow.greet();
  slow.send(rank_frame(1, "r", "q", {"p"}).substr(0, 20));
  Client idle(path());
  idle.greet();
  EXPECT_FALSE(silent.read());
  EXPECT_FALSE(slow.read());
  idle.send(ping_frame(1));
  EXPECT_EQ(idle.read()->type, kPong) << "between frames a client owes nothing";
}

TEST_F(ServerTest, ListensAgainWhenItsSocketFileIsRemoved) {
  serve();
  Client before(path());
  before.greet();
  std::filesystem::remove(path());
  std::unique_ptr<Client> after;
  while (!after) {
    try {
      after = std::make_unique<Client>(path());
    } catch (const std::system_error&) {
      ::usleep(20'000);
    }
  }
  EXPECT_EQ(after->greet().type, kWelcome);
  before.send(ping_frame(1));
  EXPECT_EQ(before.read()->type, kPong) << "old connections live on";
}

TEST_F(ServerTest, RefusesOtherUsers) {
  serve({.peer_uids = {::getuid() + 1}});
  Client client(path());
  EXPECT_FALSE(client.read());
}

TEST_F(ServerTest, AdmitsTheUsersItIsTold) {
  serve({.peer_uids = {::getuid() + 1, ::getuid()}});
  Client client(path());
  EXPECT_EQ(client.greet().type, kWelcome);
}

TEST_F(ServerTest, DrainAnswersWhatWasAcceptedAndRefusesTheRest) {
  serve();
  Client busy(path());
  busy.greet();
  Client idle(path());
  idle.greet();
  const auto ticket = send_rank(busy, 1, "accepted").first;
  server_->drain();
  EXPECT_EQ(idle.read()->type, kGoaway);
  EXPECT_FALSE(idle.read()) << "nothing in flight: closed";
  EXPECT_EQ(busy.read()->type, kGoaway);
  task_.wait_draining();
  EXPECT_THROW(Client{path()}, std::system_error) << "nobody listens any more";
  busy.send(rank_frame(2, "late", "q", {"p"}));
  expect_error(busy.read(), 2, "backend_unavailable");
  busy.send(ping_frame(3));
  const auto pong = busy.read();
  ASSERT_EQ(pong->type, kPong);
  EXPECT_FALSE(pong->fields.at("ready").as<bool>());
  task_.answer(ticket, scores_of({1, 2}));
  EXPECT_EQ(busy.read()->type, kScores);
  EXPECT_FALSE(busy.read());
  EXPECT_EQ(server_->join(), 0u);
}

TEST_F(ServerTest, DrainOfAnIdleServerEndsAtOnce) {
  serve();
  server_->drain();
  EXPECT_EQ(server_->join(), 0u);
}

TEST_F(ServerTest, DrainGivesUpAfterItsTime) {
  serve({.drain_timeout_ms = 50});
  Client client(path());
  client.greet();
  send_rank(client, 1, "stuck");
  server_->drain();
  EXPECT_EQ(server_->join(), 1u);
  EXPECT_EQ(client.read()->type, kGoaway);
  EXPECT_FALSE(client.read());
}

}  // namespace
}  // namespace ranking::ipc
