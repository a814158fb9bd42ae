// Functions that each begin with another instruction, and what uprobes of the kernel do to them.
//
//   probe_sites         runs all, each in a process of its own: "NAME RESULT" lines
//   probe_sites try     puts a uprobe and a uretprobe of perf on each, without flowtap: "NAME
//   VERDICT",
//                       which is same, changes or refused
//   probe_sites wait    does nothing for ten minutes
//   probe_sites leaf    three calls of a function that keeps its variable below the stack pointer,
//   with
//                       a nop of 5 bytes in the middle; "try leaf" with a uprobe on that
//
// A result is the signal that ended the function, or a number made of all registers and the memory
// that it may write to.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITES(SITE)                                                        \
  /* The kernel takes these for jumps, calls and nops. */                  \
  SITE(vpshufd, "vpshufd $27,%xmm1,%xmm0")                                 \
  SITE(vpsrlw, "vpsrlw $3,%xmm1,%xmm0")                                    \
  SITE(vpslld, "vpslld $3,%xmm1,%xmm0")                                    \
  SITE(vpsrldq, "vpsrldq $3,%xmm1,%xmm0")                                  \
  SITE(vpcmpeqb, "vpcmpeqb %xmm1,%xmm1,%xmm1")                             \
  SITE(vpcmpeqb_memory, "vpcmpeqb (%rsi),%ymm1,%ymm1")                     \
  SITE(vpcmpeqb_vex3, ".byte 0xc4,0xe1,0x71,0x74,0xc9")                    \
  SITE(vpcmpeqw, "vpcmpeqw %xmm1,%xmm1,%xmm1")                             \
  SITE(vpcmpeqd, "vpcmpeqd %xmm1,%xmm1,%xmm1")                             \
  SITE(vzeroupper, "vzeroupper")                                           \
  SITE(vzeroall, "vzeroall")                                               \
  SITE(vhaddps, "vhaddps %xmm1,%xmm2,%xmm0")                               \
  SITE(vhsubpd, "vhsubpd %xmm1,%xmm2,%xmm0")                               \
  SITE(vmovd_store, "vmovd %xmm1,(%rsi)")                                  \
  SITE(vmovq, "vmovq %xmm1,%xmm0")                                         \
  SITE(vmovdqa_store, "vmovdqa %xmm1,(%rsi)")                              \
  SITE(vmovdqu_store, "vmovdqu %ymm1,1(%rsi)")                             \
  SITE(vpsubsb, "vpsubsb %xmm1,%xmm2,%xmm0")                               \
  SITE(vpsubsw, "vpsubsw %ymm1,%ymm2,%ymm0")                               \
  SITE(vpor, "vpor %xmm1,%xmm2,%xmm0")                                     \
  SITE(vpor_relative, "vpor constants(%rip),%xmm2,%xmm0")                  \
  SITE(vcmpps, "vcmpps $1,%xmm1,%xmm2,%xmm0; lea constants(%rip),%rax")    \
  SITE(vcmpsd_relative, "vcmpsd $1,constants(%rip),%xmm2,%xmm0")           \
  SITE(vpbroadcastb, "vpbroadcastb %xmm1,%xmm0")                           \
  SITE(vpbroadcastw, "vpbroadcastw (%rsi),%ymm0")                          \
  SITE(vpgatherdd, "vpgatherdd %xmm5,(%rsi,%xmm4,1),%xmm0")                \
  SITE(vfnmadd132ss, "vfnmadd132ss %xmm1,%xmm2,%xmm0")                     \
  SITE(kmovw, "kmovw (%rsi),%k1; kmovw %k1,%eax")                          \
  SITE(evex_vpcmpeqb, "vpcmpeqb %xmm1,%xmm1,%k1; kmovw %k1,%eax")          \
  SITE(evex_vpcmpeqd, "vpcmpeqd %zmm1,%zmm1,%k1; kmovw %k1,%eax")          \
  SITE(evex_vpord, "vpord %zmm1,%zmm2,%zmm0")                              \
  SITE(evex_vcmpps, "vcmpps $1,%zmm1,%zmm2,%k1; lea constants(%rip),%rax") \
  SITE(evex_vpbroadcastb, "vpbroadcastb %ecx,%zmm0")                       \
  SITE(evex_vpermi2d, "vpermi2d %zmm1,%zmm2,%zmm0")                        \
  SITE(evex_vpsrld, "vpsrld $3,%zmm1,%zmm0")                               \
  SITE(evex_vmovdqu_store, "vmovdqu64 %ymm1,1(%rsi)")                      \
  SITE(evex_vfnmadd132ss, "{evex} vfnmadd132ss %xmm1,%xmm2,%xmm0")         \
  SITE(xchg_r8, ".byte 0x49,0x90")                                         \
  SITE(xchg_r8d, ".byte 0x41,0x90")                                        \
  /* What follows shows where they were executed. */                       \
  SITE(pushf, "pushf; pop %rax")                                           \
  SITE(syscall, "syscall; ret $8")                                         \
  SITE(smsw, ".byte 0x0f,0x01,0xe0")                                       \
  /* The kernel does not take these. */                                    \
  SITE(vpxor, "vpxor %xmm0,%xmm0,%xmm0")                                   \
  SITE(vmovdqu_load, "vmovdqu (%rsi),%ymm0")                               \
  SITE(vmovd_load, "vmovd %ecx,%xmm0")                                     \
  SITE(vpaddq, "vpaddq %xmm1,%xmm2,%xmm0")                                 \
  SITE(vpminsw, "vpminsw %xmm1,%xmm2,%xmm0")                               \
  SITE(vpmaskmovd, ".byte 0xc4,0xe2,0x71,0x8e,0x16")                       \
  SITE(evex_vmovdqu_load, "vmovdqu64 (%rsi),%zmm0")                        \
  SITE(lock_inc, "lock incl (%rsi)")                                       \
  SITE(lock_cmpxchg, "lock cmpxchg %ecx,(%rsi)")                           \
  SITE(segment_nop, ".byte 0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0")            \
  SITE(hinted_jump, ".byte 0x3e,0x74,0x03; inc %r9")                       \
  SITE(short_call, ".byte 0x66,0xe8,0,0")                                  \
  SITE(int3, "int3")                                                       \
  SITE(int80, "int $0x80")                                                 \
  SITE(hlt, "hlt")                                                         \
  SITE(in, "in (%dx),%al")                                                 \
  /* All is well with these. */                                            \
  SITE(vxorps, "vxorps %xmm0,%xmm0,%xmm0")                                 \
  SITE(vaddps, "vaddps %ymm1,%ymm2,%ymm0")                                 \
  SITE(vaddps_relative, "vaddps constants(%rip),%xmm2,%xmm0")              \
  SITE(vmovaps, "vmovaps (%rsi),%xmm0")                                    \
  SITE(vpaddd, "vpaddd %xmm1,%xmm2,%xmm0")                                 \
  SITE(vpcmpgtb, "vpcmpgtb %xmm1,%xmm2,%xmm0")                             \
  SITE(vpmovmskb, "vpmovmskb %xmm1,%eax")                                  \
  SITE(vpshufb, "vpshufb %xmm1,%xmm2,%xmm0")                               \
  SITE(mulx_relative, "mulx constants(%rip),%rbx,%rdi")                    \
  SITE(andn, "andn %rcx,%rdx,%rax")                                        \
  SITE(evex_vaddps, "vaddps %zmm1,%zmm2,%zmm0")                            \
  SITE(evex_vaddps_relative, "vaddps constants(%rip),%zmm2,%zmm0")         \
  SITE(pcmpeqb, "pcmpeqb %xmm1,%xmm0")                                     \
  SITE(por, "por %xmm1,%xmm0")                                             \
  SITE(movdqu, "movdqu (%rsi),%xmm0")                                      \
  SITE(push, "push %rbp; pop %rax")                                        \
  SITE(push_r15, "push %r15; pop %rax")                                    \
  SITE(push_sp, "push %rsp; pop %rax; sub %rsp,%rax")                      \
  SITE(endbr64, "endbr64")                                                 \
  SITE(nop, "nop")                                                         \
  SITE(nop5, ".byte 0x0f,0x1f,0x44,0,0")                                   \
  SITE(pause, "pause")                                                     \
  SITE(xchg_rcx, "xchg %rcx,%rax")                                         \
  SITE(jump, ".byte 0xeb,3; inc %r9")                                      \
  SITE(jump_if_equal, ".byte 0x74,3; inc %r9")                             \
  SITE(jump_if_below_near, ".byte 0x0f,0x82,3,0,0,0; inc %r9")             \
  SITE(loop, ".byte 0xe2,3; inc %r9")                                      \
  SITE(call, "call 1f; jmp 2f; 1: inc %r9; ret; 2:")                       \
  SITE(call_indirect, "call *callee(%rip)")                                \
  SITE(lea_relative, "lea constants(%rip),%rsi")                           \
  SITE(mov_relative, "mov constants(%rip),%r10")                           \
  SITE(inc_relative, "incl variable(%rip)")                                \
  SITE(pcmpistri_relative, "pcmpistri $1,constants(%rip),%xmm1")           \
  SITE(lfence, "lfence")                                                   \
  SITE(cpuid_family, "xor %eax,%eax; cpuid")                               \
  SITE(rep_stos, "rep stosb")                                              \
  SITE(ret, "ret")                                                         \
  SITE(ud2, "ud2")

enum { kBytes = 4096, kArea = 0x10000000 };
struct State {
  uint64_t general[16];
  uint8_t vectors[16][32];
  uint64_t finished, signal;
  uint8_t memory[kBytes];
};

#define DECLARE(name, code) void site_##name(void);
SITES(DECLARE)
#define DEFINE(name, code)                                                                    \
  asm(".text; .p2align 5; .globl site_" #name "; .type site_" #name ",@function; site_" #name \
      ": " code "; ret; .size site_" #name ", .-site_" #name);
SITES(DEFINE)

static const struct {
  const char* name;
  void (*function)(void);
} kSites[] = {
#define ROW(name, code) {#name, site_##name},
    SITES(ROW)};
enum { kCount = sizeof kSites / sizeof *kSites };

asm(".section .rodata; .p2align 6; constants: .quad 0x0123456789abcdef, 2, 3, 4, 5, 6, 7, 8\n"
    ".data; .p2align 6; variable: .quad 5; callee: .quad called\n"
    ".text; called: inc %r9; ret\n"
    ".p2align 5; .globl leaf; .type leaf,@function; leaf: mov %rdi,-8(%rsp)\n"
    ".byte 0x0f,0x1f,0x44,0,0; mov -8(%rsp),%rax; ret; .size leaf, .-leaf");
long leaf(long value);
// Never called: the kernel cannot decode the second.
asm(".text\n"
    ".globl odd_first; .type odd_first,@function; odd_first: nop; ret; .size odd_first, "
    ".-odd_first\n"
    ".globl odd_second; .type odd_second,@function; odd_second: .byte 0x0f,0x3a,0xc2,0,0,0; ret; "
    ".size odd_second, .-odd_second\n"
    ".globl odd_third; .type odd_third,@function; odd_third: nop; ret; .size odd_third, "
    ".-odd_third\n");

// Sets all registers, calls the function, and writes them to the state; memory stands at a fixed
// address.
uint8_t start_vectors[16][32];
uint64_t start_flags, stack_before;
void call_site(void (*function)(void));
#define EACH_VECTOR(DO) \
  DO(0)                 \
  DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define LOAD_VECTOR(n) "vmovdqu " #n "*32(%rax),%ymm" #n "\n"
#define STORE_VECTOR(n) "vmovdqu %ymm" #n "," #n "*32+128(%rax)\n"
asm(".text; .globl call_site; call_site: push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
    "mov %rdi,%r11; lea start_vectors(%rip),%rax\n" EACH_VECTOR(LOAD_VECTOR)
    "mov $0x10000400,%esi; mov $0x10000800,%edi; mov $0x1111,%ebx; mov $3,%ecx; mov $5,%edx; mov $0x2222,%ebp\n"
    "mov $8,%r8d; mov $9,%r9d; mov $10,%r10d; mov $12,%r12d; mov $13,%r13d; mov $14,%r14d; mov $15,%r15d\n"
    "mov %rsp,stack_before(%rip); push start_flags(%rip); popf; mov $102,%eax; call *%r11\n"
    "mov %rsp,%r11; mov stack_before(%rip),%rsp; lea -4096(%rsp),%rsp; pushf; push %rax; mov $0x10000000,%eax\n"
    "pop 0(%rax); pop 8(%rax); sub stack_before(%rip),%r11; mov %r11,16(%rax)\n"
    "mov %rcx,24(%rax); mov %rdx,32(%rax); mov %rsi,40(%rax); mov %rdi,48(%rax); mov %rbp,56(%rax); mov %rbx,64(%rax)\n"
    "mov %r8,72(%rax); mov %r9,80(%rax); mov %r10,88(%rax); mov %r12,96(%rax); mov %r13,104(%rax); mov %r14,112(%rax)\n"
    "mov %r15,120(%rax)\n" EACH_VECTOR(STORE_VECTOR)
    "mov stack_before(%rip),%rsp; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; push $0x202; popf; vzeroupper; ret");

static struct State* const state = (struct State*)(uint64_t)kArea;

static void take_signal(int number) {
  state->signal = (uint64_t)number;
  _exit(0);
}

static void run_here(int site, uint64_t flags) {
  static char stack[65536];
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, NULL);
  struct sigaction action = {.sa_handler = take_signal, .sa_flags = SA_ONSTACK};
  for (int i = 1; i < 32; i++) sigaction(i, &action, NULL);
  alarm(10);
  start_flags = flags;
  // More than once: the kernel may change its ways after the first time.
  for (int i = 0; i < 3; i++) call_site(kSites[site].function);
  state->finished = 1;
  _exit(0);
}

static void result_of(int site, char* text, size_t size) {
  uint64_t sum = 14695981039346656037u;
  for (int round = 0; round < 2; round++) {  // with all flags clear, and set
    memset(state, 0, sizeof *state);
    for (int i = 0; i < kBytes; i++) state->memory[i] = (uint8_t)(i * 7 + (i >> 8));
    pid_t child = fork();
    if (child == 0) run_here(site, round ? 0xad7 : 0x202);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) state->signal = (uint64_t)WTERMSIG(status);
    if (state->signal) {
      snprintf(text, size, "signal %d", (int)state->signal);
      return;
    }
    for (size_t i = 0; i < sizeof *state; i++) sum = (sum ^ ((uint8_t*)state)[i]) * 1099511628211u;
  }
  snprintf(text, size, "%016lx", sum);
}

// --- the kernel's uprobes, without flowtap ------------------------------------------------------

static int put_uprobe(uint64_t address, int is_return) {
  FILE* file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
  struct perf_event_attr attr = {.size = sizeof attr, .config = (uint64_t)is_return};
  if (!file || fscanf(file, "%u", &attr.type) != 1) exit(2);
  fclose(file);
  static char path[4096];
  if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) exit(2);
  attr.uprobe_path = (uint64_t)path;
  uint64_t begin, end, offset;
  char line[4096], rights[8];
  file = fopen("/proc/self/maps", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "%lx-%lx %7s %lx", &begin, &end, rights, &offset) == 4 && address >= begin &&
        address < end)
      attr.probe_offset = address - begin + offset;
  if (file) fclose(file);
  return (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

static const char* verdict_on(int site) {
  char without[64], with[64];
  result_of(site, without, sizeof without);
  for (int is_return = 0; is_return < 2; is_return++) {
    int probe = put_uprobe((uint64_t)kSites[site].function, is_return);
    if (probe < 0) return "refused";
    result_of(site, with, sizeof with);
    close(probe);
    if (strcmp(with, without) != 0) return "changes";
  }
  return "same";
}

static int call_leaf(int is_probed) {
  int probe = is_probed ? put_uprobe((uint64_t)leaf + 5, 0) : 0;
  for (long i = 1; i <= 3; i++) printf("%ld ", leaf(i));
  printf("\n");
  if (is_probed) close(probe);
  return probe < 0;
}

int main(int argc, char** argv) {
  int is_try = argc > 1 && strcmp(argv[1], "try") == 0;
  if (argc > 1 && strcmp(argv[argc - 1], "leaf") == 0) return call_leaf(is_try);
  if (argc > 1 && strcmp(argv[1], "wait") == 0) return (int)sleep(600);
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 32; j++)
      start_vectors[i][j] = (uint8_t)(i == 4 ? 0 : i == 5 ? 0xff : 0x11 * (i + 1) + j * 3);
  void* area = mmap((void*)state, sizeof *state, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (area != (void*)state) return 2;
  for (int i = 0; i < kCount; i++) {
    char text[64];
    if (!is_try) result_of(i, text, sizeof text);
    printf("%s %s\n", kSites[i].name, is_try ? verdict_on(i) : text);
  }
}
