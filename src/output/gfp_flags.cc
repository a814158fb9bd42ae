// gfp_t as names. Way in: append_gfp_flags().
// The kernel gives names to common combinations; the table has them first and widest first, so
// that taking whatever fits gives the shortest reading. The bits below are the same in all
// kernels from 5.0 on; higher ones depend on the configuration and stay numbers.

#include "output/gfp_flags.h"

#include <fmt/format.h>

#include <iterator>

namespace flowtap {

namespace {

enum Bit : uint64_t {
  kDma = 0x1,
  kHighmem = 0x2,
  kDma32 = 0x4,
  kMovable = 0x8,
  kReclaimable = 0x10,
  kHigh = 0x20,
  kIo = 0x40,
  kFs = 0x80,
  kZero = 0x100,
  kDirectReclaim = 0x400,
  kKswapdReclaim = 0x800,
  kWrite = 0x1000,
  kNowarn = 0x2000,
  kRetryMayfail = 0x4000,
  kNofail = 0x8000,
  kNoretry = 0x10000,
  kMemalloc = 0x20000,
  kComp = 0x40000,
  kNomemalloc = 0x80000,
  kHardwall = 0x100000,
  kThisnode = 0x200000,
  kAccount = 0x400000,
  // Combinations that other combinations build on.
  kReclaim = kDirectReclaim | kKswapdReclaim,
  kKernel = kReclaim | kIo | kFs,
  kUser = kKernel | kHardwall,
  kHighuserMovable = kUser | kHighmem | kMovable,
  kTranshugeLight = (kHighuserMovable | kComp | kNomemalloc | kNowarn) & ~kReclaim,
};

struct Name {
  uint64_t bits;
  const char* name;
};

constexpr Name kNames[] = {
    {kTranshugeLight | kDirectReclaim, "GFP_TRANSHUGE"},
    {kTranshugeLight, "GFP_TRANSHUGE_LIGHT"},
    {kHighuserMovable, "GFP_HIGHUSER_MOVABLE"},
    {kUser | kHighmem, "GFP_HIGHUSER"},
    {kUser, "GFP_USER"},
    {kKernel | kAccount, "GFP_KERNEL_ACCOUNT"},
    {kKernel, "GFP_KERNEL"},
    {kReclaim | kIo, "GFP_NOFS"},
    {kHigh | kKswapdReclaim, "GFP_ATOMIC"},
    {kReclaim, "GFP_NOIO"},
    {kKswapdReclaim, "GFP_NOWAIT"},
    {kDma, "GFP_DMA"},
    {kDma32, "GFP_DMA32"},
    {kHighmem, "__GFP_HIGHMEM"},
    {kMovable, "__GFP_MOVABLE"},
    {kReclaimable, "__GFP_RECLAIMABLE"},
    {kHigh, "__GFP_HIGH"},
    {kIo, "__GFP_IO"},
    {kFs, "__GFP_FS"},
    {kZero, "__GFP_ZERO"},
    {kDirectReclaim, "__GFP_DIRECT_RECLAIM"},
    {kWrite, "__GFP_WRITE"},
    {kNowarn, "__GFP_NOWARN"},
    {kRetryMayfail, "__GFP_RETRY_MAYFAIL"},
    {kNofail, "__GFP_NOFAIL"},
    {kNoretry, "__GFP_NORETRY"},
    {kMemalloc, "__GFP_MEMALLOC"},
    {kComp, "__GFP_COMP"},
    {kNomemalloc, "__GFP_NOMEMALLOC"},
    {kHardwall, "__GFP_HARDWALL"},
    {kThisnode, "__GFP_THISNODE"},
    {kAccount, "__GFP_ACCOUNT"},
};

}  // namespace

void append_gfp_flags(std::string& out, uint64_t flags) {
  if (flags == 0) {
    out += "none";
    return;
  }
  const char* separator = "";
  for (const Name& name : kNames) {
    if ((flags & name.bits) != name.bits) continue;
    out.append(separator).append(name.name);
    separator = "|";
    flags &= ~name.bits;
  }
  if (flags != 0) fmt::format_to(std::back_inserter(out), "{}{:#x}", separator, flags);
}

}  // namespace flowtap
