// What tests/uprobe_sites.py cannot have executed: 32-bit code, new and old processors.

#include "arch/x86_probe_site.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <charconv>
#include <vector>

#include "base/text.h"

namespace flowtap {
namespace {

std::string verdict(std::string_view hex, ProbeSite site = {.elf_machine = EM_X86_64}) {
  std::vector<std::byte> code;
  for (const std::string& word : split(hex, ' ')) {
    unsigned value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value, 16);
    code.push_back(static_cast<std::byte>(value));
  }
  site.code = code;
  std::optional<ProbeSiteProblem> problem = x86_probe_site_problem(site);
  if (!problem) return "fine";
  return (problem->changes_program ? "changes: " : "refused: ") + problem->instruction;
}

TEST(X86ProbeSite, of_64_bit_code) {
  struct {
    const char* code;
    const char* verdict;
  } const cases[] = {
      {"55", "fine"},                    // push %rbp
      {"41 57", "fine"},                 // push %r15
      {"f3 0f 1e fa", "fine"},           // endbr64
      {"e8 00 00 00 00", "fine"},        // call
      {"74 02", "fine"},                 // je
      {"90", "fine"},                    // nop
      {"48 8b 05 01 02 03 04", "fine"},  // mov x(%rip),%rax
      {"0f ae e8", "fine"},              // lfence
      {"c3", "fine"},                    // ret
      {"ff 25 01 02 03 04", "fine"},     // jmp *x(%rip)
      {"8f 00", "fine"},                 // pop (%rax)
      {"c5 f8 57 c0", "fine"},           // vxorps
      {"c5 f9 7e 16", "changes: vmovd, VEX-encoded"},
      {"c5 f1 74 c9", "changes: vpcmpeqb, VEX-encoded"},
      {"c4 e2 79 78 c0", "changes: vpbroadcastb, VEX-encoded"},
      {"c5 f0 c2 c1 03", "changes: vcmp, VEX-encoded"},
      {"c4 e2 71 9d c2", "changes: vfnmadd132s, VEX-encoded"},
      {"c5 f8 77", "changes: vzeroupper, VEX-encoded"},
      {"62 f1 75 08 74 c1", "changes: vpcmpeqb, EVEX-encoded"},
      {"62 f3 75 08 70 c1 02", "changes: opcode 0x70 of map 3, EVEX-encoded"},
      {"c5 f1 ef c9", "refused: vpxor, VEX-encoded"},
      {"62 f1 7f 48 6f 06", "refused: vmovdqu, EVEX-encoded"},
      {"c4 e2 71 8e 16", "refused: opcode 0x8e of map 2, VEX-encoded"},  // as mov to %ss
      {"8f e9 70 90 c2", "changes: opcode 0x90 of map 9, XOP-encoded"},
      {"d5 00 a1", "changes: opcode 0xd5 of map 0, REX2-encoded"},
      {"41 90", "changes: xchg %r8"},
      {"48 90", "fine"},
      {"f3 90", "fine"},  // pause
      {"9c", "changes: pushf"},
      {"9d", "fine"},
      {"0f 05", "changes: syscall"},
      {"0f 00 c8", "changes: opcode 0x00 of map 1"},  // str %eax
      {"0f 00 d8", "fine"},                           // ltr
      {"0f 01 d0", "fine"},                           // xgetbv
      {"0f 01 e0", "changes: opcode 0x01 of map 1"},  // smsw %eax
      {"f0 ff 06", "refused: lock prefix"},
      {"66 2e 0f 1f 84 00 00 00 00 00", "refused: segment prefix 0x2e"},
      {"3e c5 f1 74 c9", "refused: segment prefix 0x3e"},
      {"66 e8 00 00", "refused: branch with prefix 0x66"},
      {"8e d0", "refused: mov %ss"},
      {"8e d8", "fine"},
      {"cc", "refused: int3"},
      {"06", "refused: opcode 0x06 of map 0"},
      {"c5 f1", "fine"},  // cut off
      {"", "fine"},
  };
  for (const auto& c : cases) EXPECT_EQ(verdict(c.code), c.verdict) << c.code;
}

// There VEX, EVEX and REX are instructions of their own, unless what follows cannot be theirs.
TEST(X86ProbeSite, of_32_bit_code) {
  struct {
    const char* code;
    const char* verdict;
  } const cases[] = {
      {"c5 f1 74 c9", "changes: vpcmpeqb, VEX-encoded"},
      {"c5 71 74", "fine"},  // lds
      {"41 90", "fine"},     // inc %ecx
      {"06", "fine"},        // push %es
      {"9c", "changes: pushf"},
      {"f0 ff 06", "refused: lock prefix"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(verdict(c.code, {.elf_machine = EM_386}), c.verdict) << c.code;
  EXPECT_EQ(verdict("cc", {.elf_machine = EM_AARCH64}), "fine");
}

TEST(X86ProbeSite, of_nops_that_become_calls) {
  ProbeSite inside{
      .elf_machine = EM_X86_64, .begins_function = false, .kernel_calls_long_nops = true};
  EXPECT_EQ(verdict("0f 1f 44 00 00", inside), "changes: nop of 5 bytes");
  EXPECT_EQ(verdict("0f 1f 40 00", inside), "fine");
  inside.begins_function = true;
  EXPECT_EQ(verdict("0f 1f 44 00 00", inside), "fine");
  inside.begins_function = inside.kernel_calls_long_nops = false;
  EXPECT_EQ(verdict("0f 1f 44 00 00", inside), "fine");
}

}  // namespace
}  // namespace flowtap
