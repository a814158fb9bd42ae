// The tables beside what the headers of the system say.

#include "arch/arch.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "arch/processors.h"

#if defined(__x86_64__)
#include <sys/user.h>
#endif

namespace flowtap {
namespace {

TEST(Arch, is_found_by_its_name) {
  EXPECT_EQ(find_arch(host_arch().name), &host_arch());
  EXPECT_EQ(find_arch("pdp11"), nullptr);
}

TEST(Arch, knows_the_system_calls_of_this_machine) {
  ASSERT_GT(host_arch().system_calls.size(), static_cast<size_t>(SYS_bpf));
  EXPECT_STREQ(host_arch().system_calls[SYS_bpf], "bpf");
  EXPECT_STREQ(host_arch().system_calls[SYS_read], "read");
}

TEST(Arch, registers_have_several_names) {
  for (const char* name : {"ax", "eax", "rax"})
    EXPECT_EQ(kX86_64.register_offset(name), kX86_64.result) << name;
  EXPECT_EQ(kX86_64.register_offset("al"), std::nullopt);  // would be the whole register
  EXPECT_EQ(kX86_64.register_offset(""), std::nullopt);
  EXPECT_EQ(kX86_64.register_offset("xmm0"), std::nullopt);
  std::optional<RegisterPart> part = kX86_64.find_register("r10w");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->whole->name, "r10");
  EXPECT_EQ(part->bytes, 2u);
  EXPECT_TRUE(kX86_64.register_names().starts_with("r15, r14, "));
}

#if defined(__x86_64__)
TEST(Arch, x86_64_has_the_places_of_the_headers) {
  // As struct pt_regs has them, too.
  using Registers = user_regs_struct;
  EXPECT_EQ(kX86_64.register_offset("r15"), offsetof(Registers, r15));
  EXPECT_EQ(kX86_64.register_offset("r14"), offsetof(Registers, r14));
  EXPECT_EQ(kX86_64.register_offset("r13"), offsetof(Registers, r13));
  EXPECT_EQ(kX86_64.register_offset("r12"), offsetof(Registers, r12));
  EXPECT_EQ(kX86_64.register_offset("r11"), offsetof(Registers, r11));
  EXPECT_EQ(kX86_64.register_offset("r10"), offsetof(Registers, r10));
  EXPECT_EQ(kX86_64.register_offset("bx"), offsetof(Registers, rbx));
  EXPECT_EQ(kX86_64.register_offset("orig_ax"), offsetof(Registers, orig_rax));
  EXPECT_EQ(kX86_64.register_offset("flags"), offsetof(Registers, eflags));
  EXPECT_EQ(kX86_64.register_offset("ss"), offsetof(Registers, ss));
  const size_t arguments[] = {offsetof(Registers, rdi), offsetof(Registers, rsi),
                              offsetof(Registers, rdx), offsetof(Registers, rcx),
                              offsetof(Registers, r8),  offsetof(Registers, r9)};
  ASSERT_EQ(kX86_64.arguments.size(), std::size(arguments));
  for (size_t i = 0; i < std::size(arguments); i++)
    EXPECT_EQ(static_cast<size_t>(kX86_64.arguments[i]), arguments[i]) << i;
  EXPECT_EQ(kX86_64.register_offset("ax"), offsetof(Registers, rax));
  EXPECT_EQ(kX86_64.register_offset("ip"), offsetof(Registers, rip));
  EXPECT_EQ(kX86_64.register_offset("sp"), offsetof(Registers, rsp));
  EXPECT_EQ(kX86_64.register_offset("bp"), offsetof(Registers, rbp));
  EXPECT_EQ(kX86_64.register_offset("cs"), offsetof(Registers, cs));
  EXPECT_EQ(kX86_64.registers.size() * 8, offsetof(Registers, fs_base));
}

TEST(Arch, x86_64_finds_what_a_signal_interrupted) {
  static const ucontext_t context{};
  auto place = [&](int number) {
    return reinterpret_cast<const char*>(&context.uc_mcontext.gregs[number]) -
           reinterpret_cast<const char*>(&context);
  };
  EXPECT_EQ(kX86_64.unwind.signal_frame_pointer, place(REG_RBP));
  EXPECT_EQ(kX86_64.unwind.signal_stack_pointer, place(REG_RSP));
  EXPECT_EQ(kX86_64.unwind.signal_instruction, place(REG_RIP));
}
#endif

}  // namespace
}  // namespace flowtap
