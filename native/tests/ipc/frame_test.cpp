#include "ipc/frame.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "client.h"

namespace ranking::ipc {
namespace {

void feed(FrameReader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto space = reader.prepare();
    const size_t part = std::min(space.size(), bytes.size());
    std::copy_n(bytes.begin(), part, space.begin());
    reader.commit(part);
    bytes.remove_prefix(part);
  }
}

TEST(FrameReader, CutsFramesAtEveryByteBoundary) {
  const std::string stream = hello_frame() + rank_frame(1, "r1", "query", {"a", "b"}) + ping_frame(2);
  for (size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameReader reader;
    std::vector<std::string> seen;
    const auto collect = [&] {
      while (const auto frame = reader.next()) seen.emplace_back(frame->payload);
    };
    feed(reader, std::string_view(stream).substr(0, cut));
    collect();
    feed(reader, std::string_view(stream).substr(cut));
    collect();
    ASSERT_EQ(seen.size(), 3u) << "cut at " << cut;
    EXPECT_EQ(seen[2], "\x80");
    EXPECT_FALSE(reader.partial());
  }
}

TEST(FrameReader, MemoryFollowsWhatHasArrivedNotWhatIsAnnounced) {
  FrameReader reader;
  std::string announced = frame(3, 1, "");
  const auto length = static_cast<uint32_t>(kMaxPayload);
  announced.replace(0, 4, reinterpret_cast<const char*>(&length), 4);
  feed(reader, announced);
  EXPECT_FALSE(reader.next());
  EXPECT_LT(reader.prepare().size(), 256u << 10);
}

TEST(FrameReader, ReadsTheLargestFrame) {
  FrameReader reader;
  const std::string payload(kMaxPayload, 'x');
  feed(reader, frame(3, 1, payload));
  const auto whole = reader.next();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->payload.size(), kMaxPayload);
  EXPECT_LT(reader.prepare().size(), 1u << 20) << "the large buffer is given back";
}

TEST(FrameReader, RefusesTheLengthBeforeThePayloadComes) {
  FrameReader reader;
  std::string announced = frame(3, 1, "");
  const auto length = static_cast<uint32_t>(kMaxPayload + 1);
  announced.replace(0, 4, reinterpret_cast<const char*>(&length), 4);
  feed(reader, announced);
  EXPECT_THROW(reader.next(), ProtocolError);
}

}  // namespace
}  // namespace ranking::ipc
