#include "trtmc/library.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "fixture.h"
#include "trtmc/call.h"

namespace ranking::trtmc {
namespace {

// What open_runtime() says while the double's table has this defect.
std::string opening_with(const char* defect) {
  setenv("TRTMC_DOUBLE_TABLE", defect, 1);
  const auto message = thrown([] { open_runtime(double_root()); });
  unsetenv("TRTMC_DOUBLE_TABLE");
  return message;
}

TEST(Library, TheDoubleOpens) { EXPECT_EQ(text(open_runtime(double_root()).runtime_version()), "double 1.0"); }

TEST(Library, ANewerMinorServesAsWell) { EXPECT_EQ(opening_with("larger"), "nothing was thrown"); }

TEST(Library, BrokenRuntimesAreRefusedWithTheReason) {
  const auto f = [](const char* defect, const std::string& wanted) {
    const auto message = opening_with(defect);
    EXPECT_NE(message.find(wanted), std::string::npos) << message;
    EXPECT_NE(message.find("libtrtmc_c.so.1"), std::string::npos) << message;
  };
  f("version", "trtmc_get_api(1, 0): VERSION_MISMATCH");
  f("null", "no table");
  f("major", "major version 2, this program needs 1");
  f("short", "168 bytes, version 1.0 has 176: an older runtime");
  f("no_model_load", "no model_load");
}

TEST(Library, ALibraryWithoutTheEntryIsRefused) {
  const auto message = thrown([] { open_runtime(double_root_without_entry()); });
  EXPECT_NE(message.find("no trtmc_get_api"), std::string::npos) << message;
}

TEST(Library, AFolderWithoutTheLibraryIsRefused) {
  const Folder folder;
  const auto message = thrown([&] { open_runtime(folder.path()); });
  EXPECT_NE(message.find((folder.path() / "libtrtmc_c.so.1").string()), std::string::npos) << message;
}

TEST(Library, EveryStatusHasItsName) {
  const auto f = [](int32_t value, const std::string& name) { EXPECT_EQ(status_name(static_cast<abi::Status>(value)), name); };
  f(0, "OK");
  f(1, "END");
  f(2, "INVALID_ARGUMENT");
  f(3, "INVALID_CONFIG");
  f(4, "UNSUPPORTED");
  f(5, "VERSION_MISMATCH");
  f(6, "OUT_OF_MEMORY");
  f(7, "INTERNAL_ERROR");
  f(8, "AGAIN");
  f(9, "BUSY");
  f(10, "status 10");
  f(-1, "status -1");
}

}  // namespace
}  // namespace ranking::trtmc
