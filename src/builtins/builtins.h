#pragma once
// One row per builtin and function of the language: its name, how it may be called, what its
// arguments must be, what it yields and what it is for. The lowering has code for each, the checker
// for those whose row says Wants::Checked or Yields::Own, chosen by Fn; nothing else compares a
// builtin's name with a string.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
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

// Which part of the checker and of the lowering knows it.
enum class BuiltinFamily : uint8_t {
  Value,
  Task,     // of the current process
  Context,  // of the probe
  Stack,
  Function,  // on strings, memory and names
  Action,
  Map,
  Aggregation,  // only as the whole right side of a map assignment
};

enum BuiltinFlag : uint16_t {
  kValue = 1,   // may stand without parentheses
  kUnsafe = 2,  // needs --unsafe
  kAction = 4,  // has an effect; its result may be ignored
  kCompileTime = 8,
  kOfProbe = 16,    // what it stands for depends on the probe, so functions do not know it
  kOnePlace = 32,   // differs between the places that one probe is attached to
  kRegisters = 64,  // needs the registers that kprobes have and fentry lacks
};

// What an argument must be, where a word says it; sema checks the rest for each builtin.
enum class Wants : uint8_t {
  Checked,  // in sema
  Integer,
  Address,
  String,
  Text,     // known when the script is compiled, and gone afterwards
  Word,     // may be a word of the builtin's own: nsecs(monotonic)
  Name,     // of a type or a member
  Map,      // the map, not its value
  Key,      // of the map before it
  Printed,  // a map, a table or a value
};

// The type of its value.
enum class Yields : uint8_t {
  Own,  // depends on its arguments or the probe; sema finds it
  None,
  Bool,
  U32,
  U64,
  I64,
  Name,  // text of the length of names
  Username,
  KSym,
  USym,
  CgroupPath,
};

struct Builtin {
  Fn id;
  std::string_view name;
  BuiltinFamily family;
  uint8_t min_args;
  uint8_t max_args;
  uint16_t flags;
  std::string_view usage;
  std::string_view doc;
  Yields yields = Yields::Own;
  std::array<Wants, 3> wants = {};  // see takes()

  Wants wanted(size_t argument) const {
    return argument < wants.size() ? wants[argument] : Wants::Checked;
  }
  bool has(BuiltinFlag flag) const { return (flags & flag) != 0; }
};

inline constexpr uint8_t kAnyNumber = 128;

// What the first arguments must be.
constexpr std::array<Wants, 3> takes(Wants first, Wants second = Wants::Checked,
                                     Wants third = Wants::Checked) {
  return {first, second, third};
}

// Sorted by purpose, as the documentation shows them, and in the order of Fn.
inline constexpr Builtin kBuiltins[] = {
    {Fn::Pid, "pid", BuiltinFamily::Value, 0, 1, kValue, "pid, pid(init)",
     "process id, in flowtap's pid namespace or the initial one", Yields::Own, takes(Wants::Word)},
    {Fn::Tid, "tid", BuiltinFamily::Value, 0, 1, kValue, "tid, tid(init)",
     "thread id, in flowtap's pid namespace or the initial one", Yields::Own, takes(Wants::Word)},
    {Fn::Uid, "uid", BuiltinFamily::Value, 0, 0, kValue, "uid", "user id", Yields::U64},
    {Fn::Gid, "gid", BuiltinFamily::Value, 0, 0, kValue, "gid", "group id", Yields::U64},
    {Fn::Username, "username", BuiltinFamily::Value, 0, 0, kValue, "username",
     "user name, looked up when it is printed", Yields::Username},
    {Fn::Comm, "comm", BuiltinFamily::Task, 0, 1, kValue, "comm, comm(pid)",
     "name of the current thread, or of a process"},
    {Fn::Pcomm, "pcomm", BuiltinFamily::Task, 0, 1, kValue, "pcomm, pcomm(task)",
     "name of the parent process"},
    {Fn::Ppid, "ppid", BuiltinFamily::Task, 0, 1, kValue, "ppid, ppid(task)",
     "process id of the parent"},
    {Fn::LeaderComm, "leader_comm", BuiltinFamily::Task, 0, 1, kValue, "leader_comm",
     "name of the thread group leader"},
    {Fn::LeaderTid, "leader_tid", BuiltinFamily::Task, 0, 1, kValue, "leader_tid",
     "thread id of the thread group leader"},
    {Fn::Nsecs, "nsecs", BuiltinFamily::Value, 0, 1, kValue, "nsecs, nsecs(monotonic)",
     "nanoseconds of the boot, monotonic, tai or sw_tai clock", Yields::Own, takes(Wants::Word)},
    {Fn::Elapsed, "elapsed", BuiltinFamily::Value, 0, 0, kValue, "elapsed",
     "nanoseconds since flowtap started", Yields::U64},
    {Fn::Jiffies, "jiffies", BuiltinFamily::Value, 0, 0, kValue, "jiffies",
     "the kernel's tick counter", Yields::U64},
    {Fn::Cpu, "cpu", BuiltinFamily::Value, 0, 0, kValue, "cpu",
     "number of the CPU that runs the probe", Yields::U32},
    {Fn::Numaid, "numaid", BuiltinFamily::Value, 0, 0, kValue, "numaid", "NUMA node of that CPU",
     Yields::U32},
    {Fn::Ncpus, "ncpus", BuiltinFamily::Value, 0, 0, kValue, "ncpus", "number of CPUs",
     Yields::U32},
    {Fn::Rand, "rand", BuiltinFamily::Value, 0, 0, kValue, "rand", "a random 32-bit number",
     Yields::U32},
    {Fn::Cgroup, "cgroup", BuiltinFamily::Value, 0, 0, kValue, "cgroup",
     "id of the current cgroup (v2)", Yields::U64},
    {Fn::Curtask, "curtask", BuiltinFamily::Task, 0, 0, kValue, "curtask",
     "the current struct task_struct *"},
    {Fn::Cpid, "cpid", BuiltinFamily::Value, 0, 0, kValue, "cpid",
     "process id of the command started with -c", Yields::U32},
    {Fn::HasCpid, "has_cpid", BuiltinFamily::Value, 0, 0, kValue, "has_cpid",
     "whether -c started a command", Yields::Bool},
    {Fn::Func, "func", BuiltinFamily::Context, 0, 0, kValue | kOfProbe, "func",
     "name of the traced function"},
    {Fn::ProbeName, "probe", BuiltinFamily::Value, 0, 0, kValue | kOnePlace, "probe",
     "full name of the probe"},
    {Fn::ProbeType, "probetype", BuiltinFamily::Value, 0, 0, kValue, "probetype",
     "kind of the probe"},
    {Fn::Retval, "retval", BuiltinFamily::Context, 0, 0, kValue | kOfProbe, "retval",
     "value returned by the traced function"},
    {Fn::ArgN, "arg0", BuiltinFamily::Context, 0, 0, kValue | kOfProbe, "arg0 ... argN",
     "arguments of the traced function, as integers"},
    {Fn::Args, "args", BuiltinFamily::Context, 0, 0, kValue | kOfProbe | kOnePlace, "args.name",
     "arguments of the probe by name"},
    {Fn::Ctx, "ctx", BuiltinFamily::Context, 0, 0, kValue | kOfProbe | kRegisters, "ctx",
     "the probe's context"},
    {Fn::Usermode, "usermode", BuiltinFamily::Context, 0, 0, kValue | kRegisters, "usermode",
     "1 when the CPU was in user mode"},
    {Fn::Kstack, "kstack", BuiltinFamily::Stack, 0, 2, kValue, "kstack([mode][, limit])",
     "kernel stack", Yields::Own, takes(Wants::Word, Wants::Word)},
    {Fn::Ustack, "ustack", BuiltinFamily::Stack, 0, 2, kValue, "ustack([mode][, limit])",
     "user stack", Yields::Own, takes(Wants::Word, Wants::Word)},
    {Fn::DwUstack, "dw_ustack", BuiltinFamily::Stack, 0, 2, kValue, "dw_ustack([mode][, limit])",
     "user stack of programs without frame pointers", Yields::Own, takes(Wants::Word, Wants::Word)},
    {Fn::Config, "config", BuiltinFamily::Value, 0, 0, kValue, "config.name", "settings in force"},

    {Fn::Str, "str", BuiltinFamily::Function, 1, 2, 0, "str(pointer[, length])",
     "the string at an address"},
    {Fn::Buf, "buf", BuiltinFamily::Function, 1, 2, 0, "buf(pointer, length)",
     "bytes at an address"},
    {Fn::Strlen, "strlen", BuiltinFamily::Function, 1, 1, 0, "strlen(string)", "length of a string",
     Yields::U64, takes(Wants::String)},
    {Fn::Strcap, "strcap", BuiltinFamily::Function, 1, 1, 0, "strcap(string)", "room a string has"},
    {Fn::StrConcat, "str_concat", BuiltinFamily::Function, 2, 2, 0, "str_concat(a, b)",
     "two strings joined"},
    {Fn::Strstr, "strstr", BuiltinFamily::Function, 2, 2, 0, "strstr(haystack, needle)",
     "index of one string in another, or -1", Yields::I64, takes(Wants::String, Wants::String)},
    {Fn::Strcontains, "strcontains", BuiltinFamily::Function, 2, 2, 0,
     "strcontains(haystack, needle)", "whether one string holds another", Yields::Bool,
     takes(Wants::String, Wants::String)},
    {Fn::Strncmp, "strncmp", BuiltinFamily::Function, 3, 3, 0, "strncmp(a, b, n)",
     "0 when the first n bytes are equal", Yields::Own, takes(Wants::String, Wants::String)},
    {Fn::Memcmp, "memcmp", BuiltinFamily::Function, 3, 3, 0, "memcmp(a, b, n)",
     "0 when n bytes are equal"},
    {Fn::Strerror, "strerror", BuiltinFamily::Function, 1, 1, 0, "strerror(errno)",
     "text of an error number", Yields::Name, takes(Wants::Integer)},
    {Fn::SignalName, "signal_name", BuiltinFamily::Function, 1, 1, 0, "signal_name(number)",
     "text of a signal number", Yields::Name, takes(Wants::Integer)},
    {Fn::SyscallName, "syscall_name", BuiltinFamily::Function, 1, 1, 0, "syscall_name(number)",
     "name of a system call", Yields::Name, takes(Wants::Integer)},
    {Fn::Bswap, "bswap", BuiltinFamily::Function, 1, 1, 0, "bswap(integer)",
     "the integer with its bytes reversed"},
    {Fn::Ntop, "ntop", BuiltinFamily::Function, 1, 2, 0, "ntop([family,] address)",
     "an IPv4 or IPv6 address as text"},
    {Fn::InPrefix, "in_prefix", BuiltinFamily::Function, 2, 2, 0, "in_prefix(address, \"prefix\")",
     "whether an address of ntop() begins with a prefix; true for an empty one", Yields::Own,
     takes(Wants::Checked, Wants::Text)},
    {Fn::Pton, "pton", BuiltinFamily::Function, 1, 1, kCompileTime, "pton(\"address\")",
     "the bytes of an IP address", Yields::Own, takes(Wants::Text)},
    {Fn::Macaddr, "macaddr", BuiltinFamily::Function, 1, 1, 0, "macaddr(bytes)",
     "a MAC address as text"},
    {Fn::Path, "path", BuiltinFamily::Function, 1, 2, 0, "path(struct path *)",
     "full path of a kernel path"},
    {Fn::Kptr, "kptr", BuiltinFamily::Function, 1, 1, 0, "kptr(pointer)",
     "the pointer, read from kernel memory"},
    {Fn::Uptr, "uptr", BuiltinFamily::Function, 1, 1, 0, "uptr(pointer)",
     "the pointer, read from user memory"},
    {Fn::Kaddr, "kaddr", BuiltinFamily::Function, 1, 1, kCompileTime, "kaddr(\"symbol\")",
     "address of a kernel symbol", Yields::Own, takes(Wants::Text)},
    {Fn::PercpuKaddr, "percpu_kaddr", BuiltinFamily::Function, 1, 2, 0,
     "percpu_kaddr(\"symbol\"[, cpu])", "address of a per-CPU kernel variable", Yields::Own,
     takes(Wants::Text)},
    {Fn::Uaddr, "uaddr", BuiltinFamily::Function, 1, 1, kOfProbe | kOnePlace, "uaddr(\"symbol\")",
     "address of a symbol of the traced program", Yields::Own, takes(Wants::Text)},
    {Fn::Register, "reg", BuiltinFamily::Context, 1, 1, kOfProbe | kRegisters, "reg(\"name\")",
     "a CPU register", Yields::Own, takes(Wants::Text)},
    {Fn::Ksym, "ksym", BuiltinFamily::Function, 1, 1, 0, "ksym(address)",
     "kernel symbol of an address", Yields::KSym, takes(Wants::Address)},
    {Fn::Usym, "usym", BuiltinFamily::Function, 1, 1, 0, "usym(address)",
     "user symbol of an address", Yields::USym, takes(Wants::Address)},
    {Fn::Cgroupid, "cgroupid", BuiltinFamily::Function, 1, 1, kCompileTime, "cgroupid(\"path\")",
     "id of a cgroup directory", Yields::Own, takes(Wants::Text)},
    {Fn::CgroupPath, "cgroup_path", BuiltinFamily::Function, 1, 2, 0,
     "cgroup_path(id[, \"filter\"])", "path of a cgroup id", Yields::CgroupPath,
     takes(Wants::Integer, Wants::Text)},
    {Fn::Strftime, "strftime", BuiltinFamily::Function, 2, 2, 0, "strftime(\"format\", nsecs)",
     "a time stamp as text", Yields::Own, takes(Wants::Text, Wants::Integer)},
    {Fn::ContainerOf, "container_of", BuiltinFamily::Function, 3, 3, 0,
     "container_of(pointer, type, member)", "the struct around a member", Yields::Own,
     takes(Wants::Checked, Wants::Name, Wants::Name)},
    {Fn::IsErr, "is_err", BuiltinFamily::Function, 1, 1, 0, "is_err(pointer)",
     "whether a kernel pointer is an error code", Yields::Bool, takes(Wants::Address)},
    {Fn::IsPtr, "is_ptr", BuiltinFamily::Function, 1, 1, kCompileTime, "is_ptr(e)",
     "whether e is a pointer"},
    {Fn::IsStr, "is_str", BuiltinFamily::Function, 1, 1, kCompileTime, "is_str(e)",
     "whether e is a string"},
    {Fn::IsArray, "is_array", BuiltinFamily::Function, 1, 1, kCompileTime, "is_array(e)",
     "whether e is an array"},
    {Fn::IsInteger, "is_integer", BuiltinFamily::Function, 1, 1, kCompileTime, "is_integer(e)",
     "whether e is an integer"},
    {Fn::IsUnsignedInteger, "is_unsigned_integer", BuiltinFamily::Function, 1, 1, kCompileTime,
     "is_unsigned_integer(e)", "whether e is an unsigned integer"},
    {Fn::IsLiteral, "is_literal", BuiltinFamily::Function, 1, 1, kCompileTime, "is_literal(e)",
     "whether e is a literal"},
    {Fn::SocketCookie, "socket_cookie", BuiltinFamily::Function, 1, 1, 0, "socket_cookie(sk)",
     "the socket's unique number"},
    {Fn::Skboutput, "skboutput", BuiltinFamily::Function, 4, 4, 0,
     "skboutput(\"file.pcap\", skb, length, offset)", "write a packet to a capture file",
     Yields::Own, takes(Wants::Text)},

    {Fn::Printf, "printf", BuiltinFamily::Action, 1, kAnyNumber, kAction, "printf(\"format\", ...)",
     "print formatted text", Yields::Own, takes(Wants::Text)},
    {Fn::Errorf, "errorf", BuiltinFamily::Action, 1, kAnyNumber, kAction, "errorf(\"format\", ...)",
     "print an error with its place to stderr", Yields::Own, takes(Wants::Text)},
    {Fn::Warnf, "warnf", BuiltinFamily::Action, 1, kAnyNumber, kAction, "warnf(\"format\", ...)",
     "print a warning with its place to stderr", Yields::Own, takes(Wants::Text)},
    {Fn::Print, "print", BuiltinFamily::Action, 1, 3, kAction,
     "print(value), print(@map[, top[, div]]), print(TABLE[, top])",
     "print a value, a map or a sorted table", Yields::Own, takes(Wants::Printed)},
    {Fn::Clear, "clear", BuiltinFamily::Map, 1, 1, kAction, "clear(@map)",
     "remove all keys of a map", Yields::Own, takes(Wants::Map)},
    {Fn::Zero, "zero", BuiltinFamily::Map, 1, 1, kAction, "zero(@map)",
     "set all values of a map to 0", Yields::Own, takes(Wants::Map)},
    {Fn::Delete, "delete", BuiltinFamily::Map, 1, 2, kAction, "delete(@map, key)",
     "remove one key; true if it was there", Yields::Own, takes(Wants::Map, Wants::Key)},
    {Fn::HasKey, "has_key", BuiltinFamily::Map, 2, 2, 0, "has_key(@map, key)",
     "whether a map has a key", Yields::Own, takes(Wants::Map, Wants::Key)},
    {Fn::Find, "find", BuiltinFamily::Map, 3, 3, kAction, "find(@map, key, $value)",
     "true and copies the value if the key is there", Yields::Own, takes(Wants::Map, Wants::Key)},
    {Fn::Len, "len", BuiltinFamily::Map, 1, 1, 0, "len(@map), len(kstack)",
     "number of keys of a map or frames of a stack", Yields::Own, takes(Wants::Map)},
    {Fn::Exit, "exit", BuiltinFamily::Action, 0, 1, kAction | kValue, "exit([code])",
     "end the script"},
    {Fn::Time, "time", BuiltinFamily::Action, 0, 1, kAction, "time([\"format\"])",
     "print the time of day", Yields::None, takes(Wants::Text)},
    {Fn::Cat, "cat", BuiltinFamily::Action, 1, kAnyNumber, kAction, "cat(\"path format\", ...)",
     "print a file", Yields::Own, takes(Wants::Text)},
    {Fn::Join, "join", BuiltinFamily::Action, 1, 2, kAction, "join(char **[, \"separator\"])",
     "print an array of strings", Yields::Own, takes(Wants::Checked, Wants::Text)},
    {Fn::System, "system", BuiltinFamily::Action, 1, kAnyNumber, kAction | kUnsafe,
     "system(\"command format\", ...)", "run a shell command", Yields::Own, takes(Wants::Text)},
    {Fn::Signal, "signal", BuiltinFamily::Action, 1, 1, kAction | kUnsafe,
     "signal(number or \"NAME\")", "send a signal to the current process"},
    {Fn::SignalThread, "signal_thread", BuiltinFamily::Action, 1, 1, kAction | kUnsafe,
     "signal_thread(number or \"NAME\")", "send a signal to the current thread"},
    {Fn::Override, "override", BuiltinFamily::Action, 1, 1, kAction | kUnsafe | kRegisters,
     "override(value)", "make the traced function return a value"},
    {Fn::WriteUser, "write_user", BuiltinFamily::Action, 3, 3, kAction | kUnsafe,
     "write_user(to, from, length)", "write to user memory"},
    {Fn::Unwatch, "unwatch", BuiltinFamily::Action, 1, 1, kAction, "unwatch(address)",
     "remove a watchpoint", Yields::None, takes(Wants::Address)},
    {Fn::Assert, "assert", BuiltinFamily::Action, 2, 2, kAction, "assert(condition, \"message\")",
     "end with an error unless a condition holds", Yields::Own, takes(Wants::Checked, Wants::Text)},
    {Fn::StaticAssert, "static_assert", BuiltinFamily::Action, 2, 2, kAction | kCompileTime,
     "static_assert(condition, \"message\")", "refuse to compile unless a condition holds",
     Yields::Own, takes(Wants::Checked, Wants::Text)},
    {Fn::Fail, "fail", BuiltinFamily::Action, 1, kAnyNumber, kAction | kCompileTime,
     "fail(\"format\", ...)", "refuse to compile", Yields::Own, takes(Wants::Text)},
    {Fn::Getopt, "getopt", BuiltinFamily::Function, 1, 3, 0,
     "getopt(\"name\"[, default[, \"description\"]])", "a named option of the script", Yields::Own,
     takes(Wants::Text, Wants::Checked, Wants::Text)},
    {Fn::KfuncExist, "kfunc_exist", BuiltinFamily::Function, 1, 1, kCompileTime,
     "kfunc_exist(\"name\")", "whether the kernel has a kfunc", Yields::Own, takes(Wants::Text)},
    {Fn::KfuncAllowed, "kfunc_allowed", BuiltinFamily::Function, 1, 1, kCompileTime,
     "kfunc_allowed(\"name\")", "whether this probe may call a kfunc", Yields::Own,
     takes(Wants::Text)},

    {Fn::Count, "count", BuiltinFamily::Aggregation, 0, 0, 0, "@ = count()", "number of times"},
    {Fn::Sum, "sum", BuiltinFamily::Aggregation, 1, 1, 0, "@ = sum(n)", "total"},
    {Fn::Min, "min", BuiltinFamily::Aggregation, 1, 1, 0, "@ = min(n)", "smallest value"},
    {Fn::Max, "max", BuiltinFamily::Aggregation, 1, 1, 0, "@ = max(n)", "largest value"},
    {Fn::Avg, "avg", BuiltinFamily::Aggregation, 1, 1, 0, "@ = avg(n)", "mean"},
    {Fn::Stats, "stats", BuiltinFamily::Aggregation, 1, 1, 0, "@ = stats(n)",
     "count, mean and total"},
    {Fn::Hist, "hist", BuiltinFamily::Aggregation, 1, 2, 0, "@ = hist(n[, bits])",
     "histogram by powers of two"},
    {Fn::Lhist, "lhist", BuiltinFamily::Aggregation, 4, 4, 0, "@ = lhist(n, min, max, step)",
     "linear histogram"},
    {Fn::Tseries, "tseries", BuiltinFamily::Aggregation, 3, 4, 0,
     "@ = tseries(n, interval, buckets[, \"avg|max|min|sum\"])", "values over time"},
};

constexpr bool has_row_for_each_fn() {
  for (size_t i = 0; i < std::size(kBuiltins); i++)
    if (kBuiltins[i].id != static_cast<Fn>(i)) return false;
  return std::size(kBuiltins) == static_cast<size_t>(Fn::Tseries) + 1;
}
static_assert(has_row_for_each_fn(), "each Fn has one row, in the order of Fn");

constexpr std::span<const Builtin> all_builtins() { return kBuiltins; }
// Null when there is none of that name. "arg0" to "arg63" all find the row of ArgN.
const Builtin* find_builtin(std::string_view name);
// The number in "argN", or -1.
int argument_number(std::string_view name);

}  // namespace flowtap
