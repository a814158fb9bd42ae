#pragma once
// One row per builtin and function of the language: its names, how it may be called and what it
// is for. The checker and the lowering each have one function per row, chosen by Fn; nothing
// else compares a builtin's name with a string.

#include <cstdint>
#include <span>
#include <string_view>

namespace flowtap {

enum class Fn : uint8_t {
  // values
  Pid,
  Tid,
  Uid,
  Gid,
  Username,
  Comm,
  Pcomm,
  Ppid,
  LeaderComm,
  LeaderTid,
  Nsecs,
  Elapsed,
  Jiffies,
  Cpu,
  Numaid,
  Ncpus,
  Rand,
  Cgroup,
  Curtask,
  Cpid,
  HasCpid,
  Func,
  ProbeName,
  ProbeType,
  Retval,
  ArgN,
  Args,
  Ctx,
  Usermode,
  Kstack,
  Ustack,
  DwUstack,
  Config,
  // strings and memory
  Str,
  Buf,
  Strlen,
  Strcap,
  StrConcat,
  Strstr,
  Strcontains,
  Strncmp,
  Memcmp,
  Strerror,
  SignalName,
  SyscallName,
  Bswap,
  Ntop,
  InPrefix,
  Pton,
  Macaddr,
  Path,
  Kptr,
  Uptr,
  Kaddr,
  PercpuKaddr,
  Uaddr,
  Register,
  Ksym,
  Usym,
  Cgroupid,
  CgroupPath,
  Strftime,
  ContainerOf,
  IsErr,
  IsPtr,
  IsStr,
  IsArray,
  IsInteger,
  IsUnsignedInteger,
  IsLiteral,
  SocketCookie,
  Skboutput,
  // actions
  Printf,
  Errorf,
  Warnf,
  Print,
  Clear,
  Zero,
  Delete,
  HasKey,
  Find,
  Len,
  Exit,
  Time,
  Cat,
  Join,
  System,
  Signal,
  SignalThread,
  Override,
  WriteUser,
  Unwatch,
  Assert,
  StaticAssert,
  Fail,
  Getopt,
  KfuncExist,
  KfuncAllowed,
  // aggregations
  Count,
  Sum,
  Min,
  Max,
  Avg,
  Stats,
  Hist,
  Lhist,
  Tseries,
};

enum BuiltinFlag : uint16_t {
  kValue = 1,        // may stand without parentheses
  kUnsafe = 2,       // needs --unsafe
  kAggregation = 4,  // only as the whole right side of a map assignment
  kMapFirst = 8,     // the first argument is a map, not its value
  kAction = 16,      // has an effect; its result may be ignored
  kCompileTime = 32,
};

struct Builtin {
  Fn id;
  std::string_view name;
  uint8_t min_args;
  uint8_t max_args;
  uint16_t flags;
  std::string_view usage;
  std::string_view doc;

  bool has(BuiltinFlag flag) const { return (flags & flag) != 0; }
};

std::span<const Builtin> all_builtins();
// Null when there is none of that name. "arg0" to "arg63" all find the row of ArgN.
const Builtin* find_builtin(std::string_view name);
// The number in "argN", or -1.
int argument_number(std::string_view name);

}  // namespace flowtap
