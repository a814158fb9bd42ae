// Logs of real kernels and what is kept of them.

#include "load/verifier_log.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

TEST(VerifierLog, the_last_line_before_the_summary_is_the_reason) {
  VerifierVerdict verdict = read_verifier_log(
      "func#0 @0\n"
      "0: R1=ctx() R10=fp0\n"
      "0: (b7) r1 = 0                        ; R1_w=0\n"
      "1: (61) r0 = *(u32 *)(r1 +0)\n"
      "R1 invalid mem access 'scalar'\n"
      "verification time 41 usec\n"
      "stack depth 0\n"
      "processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0\n");
  EXPECT_EQ(verdict.reason, "R1 invalid mem access 'scalar'");
  EXPECT_EQ(verdict.insn, 1u);
}

TEST(VerifierLog, states_and_jumps_are_no_instructions) {
  VerifierVerdict verdict = read_verifier_log(
      "4: (55) if r0 != 0x0 goto pc+3\n"
      "from 4 to 8: R0=0\n"
      "8: R0=0\n"
      "8: (95) exit\n"
      "Unreleased reference id=2 alloc_insn=3\n");
  EXPECT_EQ(verdict.reason, "Unreleased reference id=2 alloc_insn=3");
  EXPECT_EQ(verdict.insn, 8u);
}

TEST(VerifierLog, control_flow_faults_name_their_instruction) {
  VerifierVerdict verdict = read_verifier_log("unreachable insn 3\nprocessed 0 insns\n");
  EXPECT_EQ(verdict.reason, "unreachable insn 3");
  EXPECT_EQ(verdict.insn, 3u);
}

TEST(VerifierLog, an_empty_log_says_nothing) {
  EXPECT_EQ(read_verifier_log("").reason, "");
  EXPECT_FALSE(read_verifier_log("\n\n").insn);
}

}  // namespace
}  // namespace flowtap
