#include "ipc/utf8.h"

#include <gtest/gtest.h>

namespace ranking::ipc {
namespace {

// An independent judge: decodes to code points by the definition.
bool valid_by_definition(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
    if (length == 0 || i + length > text.size()) return false;
    uint32_t point = length == 1 ? first : first & (0x7Fu >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if (next >> 6 != 2) return false;
      point = point << 6 | (next & 0x3Fu);
    }
    constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (point < least[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
    i += length;
  }
  return true;
}

void expect_agreement(const std::string& text) {
  ASSERT_EQ(valid_utf8(text), valid_by_definition(text)) << testing::PrintToString(text);
}

TEST(Utf8, AgreesWithTheDefinition) {
  // All pairs; for the lead bytes of longer characters, tails from each side of every bound.
  const std::string tails = {'\x00', '\x7F', '\x80', '\x8F', '\x90', '\x9F', '\xA0', '\xBF', '\xC0', '\xFF'};
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string pair{static_cast<char>(first), static_cast<char>(second)};
      expect_agreement(pair);
      if (first < 0xE0) continue;
      for (const char third : tails) {
        expect_agreement(pair + third);
        for (const char fourth : tails) expect_agreement(pair + third + fourth);
      }
    }
  }
}

TEST(Utf8, FindsOneBadByteAnywhere) {
  for (size_t at = 0; at < 40; ++at) {
    std::string text(40, 'a');
    EXPECT_TRUE(valid_utf8(text));
    text[at] = '\xFF';
    EXPECT_FALSE(valid_utf8(text)) << at;
  }
}

TEST(Utf8, RepairKeepsCharactersWhole) {
  EXPECT_EQ(repair_utf8("a\xFFz", 10), "a?z");
  EXPECT_EQ(repair_utf8("aé", 2), "a");
  EXPECT_EQ(repair_utf8("aé", 3), "aé");
  EXPECT_TRUE(valid_utf8(repair_utf8("\xE6\x97", 10)));
}

}  // namespace
}  // namespace ranking::ipc
