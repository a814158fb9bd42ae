// Operands in, what they mean out; written as "size where" with the address as C would have it.

#include "arch/x86_operands.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

std::string show_operands(const UsdtArgument& a) {
  std::string text = (a.is_signed ? "s" : "u") + std::to_string(a.bytes * 8) + " ";
  if (a.where == UsdtArgument::Where::Constant) return text + std::to_string(a.constant);
  if (a.where == UsdtArgument::Where::Register) return text + a.base;
  text += "[" + a.base;
  if (!a.index.empty()) text += "+" + a.index + "*" + std::to_string(a.scale);
  return text + (a.constant < 0 ? "" : "+") + std::to_string(a.constant) + "]";
}

std::string show_operands(std::string_view arguments) {
  UsdtOperandContext context{0x1000, [](std::string_view name) -> std::optional<uint64_t> {
                               if (name == "counter") return 0x1800;
                               return std::nullopt;
                             }};
  std::string text;
  for (const UsdtArgument& a : x86_usdt_arguments(arguments, context))
    text += (text.empty() ? "" : ", ") + show_operands(a);
  return text;
}

TEST(UsdtOperands, every_form_of_the_x86_assembler) {
  struct {
    const char *arguments, *expected;
  } const cases[] = {
      // constants
      {"-4@$12", "s32 12"},
      {"-4@$-1", "s32 -1"},
      {"8@$0x10", "u64 16"},
      {"8@$counter", "u64 6144"},
      // registers
      {"8@%rax", "u64 rax"},
      {"4@%edi", "u32 rdi"},
      {"2@%bx", "u16 rbx"},
      {"1@%al", "u8 rax"},
      {"-1@%dil", "s8 rdi"},
      {"-4@%r8d", "s32 r8"},
      {"2@%r15w", "u16 r15"},
      {"1@%r10b", "u8 r10"},
      {"8@%r12", "u64 r12"},
      {"-8@%rsp", "s64 rsp"},
      // memory
      {"-4@8(%rbp)", "s32 [rbp+8]"},
      {"-4@-20(%rbp)", "s32 [rbp-20]"},
      {"8@(%rax)", "u64 [rax+0]"},
      {"8@0x10(%r9)", "u64 [r9+16]"},
      {"8@-8(%rbx,%rcx,4)", "u64 [rbx+rcx*4-8]"},
      {"8@(%rbx,%rcx)", "u64 [rbx+rcx*1+0]"},
      {"8@0x10(,%rax,8)", "u64 [+rax*8+16]"},
      {"8@-8(%rbx, %rcx, 4) 4@%eax", "u64 [rbx+rcx*4-8], u32 rax"},
      // symbols: by their distance from the probe
      {"8@counter(%rip)", "u64 [rip+2048]"},
      {"8@counter+8(%rip)", "u64 [rip+2056]"},
      {"8@24+counter(%rip)", "u64 [rip+2072]"},
      {"8@counter-4(%rip)", "u64 [rip+2044]"},
      {"4@counter", "u32 [rip+2048]"},
      {"8@counter(,%rax,8)", "u64 [rip+rax*8+2048]"},
      {"8@16(%rip)", "u64 [rip+16]"},
      // the bits of a floating value
      {"8f@%rdx", "u64 rdx"},
      {"-4f@8(%rbp)", "s32 [rbp+8]"},
      // without a size
      {"%rax", "u64 rax"},
      {"%eax", "u32 rax"},
      {"$7", "u64 7"},
      {"8(%rbp)", "u64 [rbp+8]"},
      // several, and blanks
      {"", ""},
      {"  ", ""},
      {"4@%eax  8@%rbx ", "u32 rax, u64 rbx"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(show_operands(std::string_view(c.arguments)), c.expected) << c.arguments;
}

// The other arguments of the probe stay usable.
TEST(UsdtOperands, an_operand_that_cannot_be_read_keeps_its_place) {
  struct {
    const char *arguments, *expected;
  } const cases[] = {
      {"8f@%xmm0 4@%eax", "u64 xmm0, u32 rax"},
      {"16@%xmm3", "u64 xmm3"},
      {"1@%ah", "u64 ah"},
      {"8@%r16", "u64 r16"},
      {"8@unknown(%rip)", "u64 unknown(%rip)"},
      {"8@counter(%rbx)", "u64 counter(%rbx)"},
      {"8@8(%rbp", "u64 8(%rbp"},
      {"8@(%rbx,%rcx,3)", "u64 (%rbx,%rcx,3)"},
      {"8@", "u64 8@"},
      {"@", "u64 @"},
      {"8@$", "u64 $"},
      {"x@%rax", "u64 x@%rax"},
      {"16@%rax", "u64 16@%rax"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(show_operands(std::string_view(c.arguments)), c.expected) << c.arguments;
}

}  // namespace
}  // namespace flowtap
