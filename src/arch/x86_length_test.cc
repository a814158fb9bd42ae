// Against instructions written by hand, and against what objdump makes of a whole library.

#include "arch/x86_length.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <vector>

#include "arch/processors.h"
#include "base/text.h"

namespace flowtap {
namespace {

// "48 89 e5" -> bytes; stops at what is no pair of digits.
std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  for (const std::string& word : split(text, ' ')) {
    unsigned value = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
    if (error != std::errc() || word.size() != 2) break;
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

TEST(X86Length, of_single_instructions) {
  struct {
    const char* code;
    uint32_t length;  // 0: none
  } const cases[] = {
      {"90", 1},                              // nop
      {"55 48 89 e5", 1},                     // push %rbp, then another
      {"48 89 e5", 3},                        // mov %rsp,%rbp
      {"48 b8 01 02 03 04 05 06 07 08", 10},  // movabs
      {"66 b8 01 02", 4},                     // mov $imm16,%ax
      {"b8 01 02 03 04", 5},                  // mov $imm32,%eax
      {"48 8b 05 01 02 03 04", 7},            // mov x(%rip),%rax
      {"8b 44 24 08", 4},                     // mov 8(%rsp),%eax
      {"8b 04 25 01 02 03 04", 7},            // mov absolute,%eax
      {"f6 c1 01", 3},                        // test $1,%cl
      {"f7 d8", 2},                           // neg %eax
      {"66 f7 c1 01 02", 5},                  // test $imm16,%cx
      {"0f 84 01 02 03 04", 6},               // je
      {"66 48 e8 01 02 03 04", 7},            // data16 call, as in thread-local storage
      {"66 2e 0f 1f 84 00 00 00 00 00", 10},  // nop
      {"c8 01 02 03", 4},                     // enter
      {"66 0f 3a 0f c1 08", 6},               // palignr
      {"c5 f8 77", 3},                        // vzeroupper
      {"c4 e2 7d 5a 06", 5},                  // vbroadcasti128
      {"c4 e3 7d 39 c1 01", 6},               // vextracti128
      {"62 f1 fe 48 6f 46 01", 7},            // vmovdqu64
      {"62 f3 7d 48 3f c1 02", 7},            // vpcmpub
      {"8f 00", 2},                           // pop
      {"48 8b 05 01 02 03", 0},               // cut off
      {"06", 0},                              // not in 64-bit mode
      {"66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", 0},  // too long
      {"", 0},
  };
  for (const auto& c : cases)
    EXPECT_EQ(x86_instruction_length(from_hex(c.code)).value_or(0), c.length) << c.code;
}

TEST(X86Length, finds_where_instructions_begin) {
  std::vector<std::byte> code = from_hex("55 48 89 e5 06 90");  // push, mov, none, nop
  const std::optional<uint64_t> expected[] = {0, 1, 1, 1, std::nullopt, std::nullopt, std::nullopt};
  for (uint64_t offset = 0; offset < std::size(expected); offset++)
    EXPECT_EQ(x86_instruction_start(code, offset), expected[offset]) << offset;
}

// A line of it: "  401136:\t55                   \tpush   %rbp".
TEST(X86Length, agrees_with_objdump) {
  std::string libc;
  for (std::string_view folder : kX86_64.library_folders)
    if (libc.empty() && ::access((std::string(folder) + "/libc.so.6").c_str(), R_OK) == 0)
      libc = std::string(folder) + "/libc.so.6";
  if (libc.empty()) GTEST_SKIP() << "this machine has no C library in the usual places";
  std::string command = "objdump -d --insn-width=16 " + libc + " 2>/dev/null";
  std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), ::pclose);
  ASSERT_TRUE(output);
  char text[512];
  size_t compared = 0, differing = 0;
  while (std::fgets(text, sizeof text, output.get())) {
    std::vector<std::string> columns = split(text, '\t');
    if (columns.size() < 3 || columns[2].starts_with("(bad)")) continue;
    std::vector<std::byte> code = from_hex(columns[1]);
    compared++;
    if (x86_instruction_length(code) == code.size() || ++differing > 20) continue;
    ADD_FAILURE() << text;
  }
  if (compared == 0) GTEST_SKIP() << "objdump is missing or cannot read this machine's code";
  EXPECT_EQ(differing, 0u) << "of " << compared;
}

}  // namespace
}  // namespace flowtap
