#include "ipc/rank_log.h"

#include <gtest/gtest.h>

namespace ranking::ipc {
namespace {

std::string logged(const RankError& error) {
  ::testing::internal::CaptureStderr();
  log_answer({.id = "r-1", .passages = 2}, error);
  return ::testing::internal::GetCapturedStderr();
}

TEST(RankLog, HasOurWordsAndNotThoseOfTheModelsOwnCode) {
  EXPECT_NE(logged({.code = ErrorCode::kBackendFailed, .message = "the score is not finite"}).find("not finite"),
            std::string::npos);
  for (const auto code : {ErrorCode::kBackendFailed, ErrorCode::kServerBusy, ErrorCode::kBackendUnavailable}) {
    const auto line = logged({.code = code, .message = "cannot score 'a secret'", .foreign = true});
    EXPECT_EQ(line.find("secret"), std::string::npos) << line;
    EXPECT_NE(line.find("r-1"), std::string::npos) << line;
  }
  const auto line = logged({.code = ErrorCode::kBackendRejectedRequest, .message = "cannot score 'a secret'"});
  EXPECT_EQ(line.find("secret"), std::string::npos) << line;
}

}  // namespace
}  // namespace ranking::ipc
