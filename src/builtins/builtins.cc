// The table of builtins; see builtins.h. Sorted by purpose, as the documentation shows them.

#include "builtins/builtins.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/text.h"

namespace flowtap {

static constexpr uint8_t kMany = 128;

static constexpr Builtin kBuiltins[] = {
    {Fn::Pid, "pid", 0, 1, kValue, "pid, pid(init)",
     "process id, in flowtap's pid namespace or the initial one"},
    {Fn::Tid, "tid", 0, 1, kValue, "tid, tid(init)",
     "thread id, in flowtap's pid namespace or the initial one"},
    {Fn::Uid, "uid", 0, 0, kValue, "uid", "user id"},
    {Fn::Gid, "gid", 0, 0, kValue, "gid", "group id"},
    {Fn::Username, "username", 0, 0, kValue, "username", "user name, looked up when it is printed"},
    {Fn::Comm, "comm", 0, 1, kValue, "comm, comm(pid)",
     "name of the current thread, or of a process"},
    {Fn::Pcomm, "pcomm", 0, 1, kValue, "pcomm, pcomm(task)", "name of the parent process"},
    {Fn::Ppid, "ppid", 0, 1, kValue, "ppid, ppid(task)", "process id of the parent"},
    {Fn::LeaderComm, "leader_comm", 0, 1, kValue, "leader_comm", "name of the thread group leader"},
    {Fn::LeaderTid, "leader_tid", 0, 1, kValue, "leader_tid",
     "thread id of the thread group leader"},
    {Fn::Nsecs, "nsecs", 0, 1, kValue, "nsecs, nsecs(monotonic)",
     "nanoseconds of the boot, monotonic, tai or sw_tai clock"},
    {Fn::Elapsed, "elapsed", 0, 0, kValue, "elapsed", "nanoseconds since flowtap started"},
    {Fn::Jiffies, "jiffies", 0, 0, kValue, "jiffies", "the kernel's tick counter"},
    {Fn::Cpu, "cpu", 0, 0, kValue, "cpu", "number of the CPU that runs the probe"},
    {Fn::Numaid, "numaid", 0, 0, kValue, "numaid", "NUMA node of that CPU"},
    {Fn::Ncpus, "ncpus", 0, 0, kValue, "ncpus", "number of CPUs"},
    {Fn::Rand, "rand", 0, 0, kValue, "rand", "a random 32-bit number"},
    {Fn::Cgroup, "cgroup", 0, 0, kValue, "cgroup", "id of the current cgroup (v2)"},
    {Fn::Curtask, "curtask", 0, 0, kValue, "curtask", "the current struct task_struct *"},
    {Fn::Cpid, "cpid", 0, 0, kValue, "cpid", "process id of the command started with -c"},
    {Fn::HasCpid, "has_cpid", 0, 0, kValue, "has_cpid", "whether -c started a command"},
    {Fn::Func, "func", 0, 0, kValue, "func", "name of the traced function"},
    {Fn::ProbeName, "probe", 0, 0, kValue, "probe", "full name of the probe"},
    {Fn::ProbeType, "probetype", 0, 0, kValue, "probetype", "kind of the probe"},
    {Fn::Retval, "retval", 0, 0, kValue, "retval", "value returned by the traced function"},
    {Fn::ArgN, "arg0", 0, 0, kValue, "arg0 ... argN",
     "arguments of the traced function, as integers"},
    {Fn::Args, "args", 0, 0, kValue, "args.name", "arguments of the probe by name"},
    {Fn::Ctx, "ctx", 0, 0, kValue, "ctx", "the probe's context"},
    {Fn::Usermode, "usermode", 0, 0, kValue, "usermode", "1 when the CPU was in user mode"},
    {Fn::Kstack, "kstack", 0, 2, kValue, "kstack([mode][, limit])", "kernel stack"},
    {Fn::Ustack, "ustack", 0, 2, kValue, "ustack([mode][, limit])", "user stack"},
    {Fn::DwUstack, "dw_ustack", 0, 2, kValue, "dw_ustack([mode][, limit])",
     "user stack of programs without frame pointers"},
    {Fn::Config, "config", 0, 0, kValue, "config.name", "settings in force"},

    {Fn::Str, "str", 1, 2, 0, "str(pointer[, length])", "the string at an address"},
    {Fn::Buf, "buf", 1, 2, 0, "buf(pointer, length)", "bytes at an address"},
    {Fn::Strlen, "strlen", 1, 1, 0, "strlen(string)", "length of a string"},
    {Fn::Strcap, "strcap", 1, 1, 0, "strcap(string)", "room a string has"},
    {Fn::StrConcat, "str_concat", 2, 2, 0, "str_concat(a, b)", "two strings joined"},
    {Fn::Strstr, "strstr", 2, 2, 0, "strstr(haystack, needle)",
     "index of one string in another, or -1"},
    {Fn::Strcontains, "strcontains", 2, 2, 0, "strcontains(haystack, needle)",
     "whether one string holds another"},
    {Fn::Strncmp, "strncmp", 3, 3, 0, "strncmp(a, b, n)", "0 when the first n bytes are equal"},
    {Fn::Memcmp, "memcmp", 3, 3, 0, "memcmp(a, b, n)", "0 when n bytes are equal"},
    {Fn::Strerror, "strerror", 1, 1, 0, "strerror(errno)", "text of an error number"},
    {Fn::SignalName, "signal_name", 1, 1, 0, "signal_name(number)", "text of a signal number"},
    {Fn::SyscallName, "syscall_name", 1, 1, 0, "syscall_name(number)", "name of a system call"},
    {Fn::Bswap, "bswap", 1, 1, 0, "bswap(integer)", "the integer with its bytes reversed"},
    {Fn::Ntop, "ntop", 1, 2, 0, "ntop([family,] address)", "an IPv4 or IPv6 address as text"},
    {Fn::InPrefix, "in_prefix", 2, 2, 0, "in_prefix(address, \"prefix\")",
     "whether an address of ntop() begins with a prefix; true for an empty one"},
    {Fn::Pton, "pton", 1, 1, kCompileTime, "pton(\"address\")", "the bytes of an IP address"},
    {Fn::Macaddr, "macaddr", 1, 1, 0, "macaddr(bytes)", "a MAC address as text"},
    {Fn::Path, "path", 1, 2, 0, "path(struct path *)", "full path of a kernel path"},
    {Fn::Kptr, "kptr", 1, 1, 0, "kptr(pointer)", "the pointer, read from kernel memory"},
    {Fn::Uptr, "uptr", 1, 1, 0, "uptr(pointer)", "the pointer, read from user memory"},
    {Fn::Kaddr, "kaddr", 1, 1, kCompileTime, "kaddr(\"symbol\")", "address of a kernel symbol"},
    {Fn::PercpuKaddr, "percpu_kaddr", 1, 2, 0, "percpu_kaddr(\"symbol\"[, cpu])",
     "address of a per-CPU kernel variable"},
    {Fn::Uaddr, "uaddr", 1, 1, 0, "uaddr(\"symbol\")", "address of a symbol of the traced program"},
    {Fn::Register, "reg", 1, 1, 0, "reg(\"name\")", "a CPU register"},
    {Fn::Ksym, "ksym", 1, 1, 0, "ksym(address)", "kernel symbol of an address"},
    {Fn::Usym, "usym", 1, 1, 0, "usym(address)", "user symbol of an address"},
    {Fn::Cgroupid, "cgroupid", 1, 1, kCompileTime, "cgroupid(\"path\")",
     "id of a cgroup directory"},
    {Fn::CgroupPath, "cgroup_path", 1, 2, 0, "cgroup_path(id[, \"filter\"])",
     "path of a cgroup id"},
    {Fn::Strftime, "strftime", 2, 2, 0, "strftime(\"format\", nsecs)", "a time stamp as text"},
    {Fn::ContainerOf, "container_of", 3, 3, 0, "container_of(pointer, type, member)",
     "the struct around a member"},
    {Fn::IsErr, "is_err", 1, 1, 0, "is_err(pointer)", "whether a kernel pointer is an error code"},
    {Fn::IsPtr, "is_ptr", 1, 1, kCompileTime, "is_ptr(e)", "whether e is a pointer"},
    {Fn::IsStr, "is_str", 1, 1, kCompileTime, "is_str(e)", "whether e is a string"},
    {Fn::IsArray, "is_array", 1, 1, kCompileTime, "is_array(e)", "whether e is an array"},
    {Fn::IsInteger, "is_integer", 1, 1, kCompileTime, "is_integer(e)", "whether e is an integer"},
    {Fn::IsUnsignedInteger, "is_unsigned_integer", 1, 1, kCompileTime, "is_unsigned_integer(e)",
     "whether e is an unsigned integer"},
    {Fn::IsLiteral, "is_literal", 1, 1, kCompileTime, "is_literal(e)", "whether e is a literal"},
    {Fn::SocketCookie, "socket_cookie", 1, 1, 0, "socket_cookie(sk)", "the socket's unique number"},
    {Fn::Skboutput, "skboutput", 4, 4, 0, "skboutput(\"file.pcap\", skb, length, offset)",
     "write a packet to a capture file"},

    {Fn::Printf, "printf", 1, kMany, kAction, "printf(\"format\", ...)", "print formatted text"},
    {Fn::Errorf, "errorf", 1, kMany, kAction, "errorf(\"format\", ...)",
     "print an error with its place to stderr"},
    {Fn::Warnf, "warnf", 1, kMany, kAction, "warnf(\"format\", ...)",
     "print a warning with its place to stderr"},
    {Fn::Print, "print", 1, 3, kAction,
     "print(value), print(@map[, top[, div]]), print(TABLE[, top])",
     "print a value, a map or a sorted table"},
    {Fn::Clear, "clear", 1, 1, kAction | kMapFirst, "clear(@map)", "remove all keys of a map"},
    {Fn::Zero, "zero", 1, 1, kAction | kMapFirst, "zero(@map)", "set all values of a map to 0"},
    {Fn::Delete, "delete", 1, 2, kAction | kMapFirst, "delete(@map, key)",
     "remove one key; true if it was there"},
    {Fn::HasKey, "has_key", 2, 2, kMapFirst, "has_key(@map, key)", "whether a map has a key"},
    {Fn::Find, "find", 3, 3, kAction | kMapFirst, "find(@map, key, $value)",
     "true and copies the value if the key is there"},
    {Fn::Len, "len", 1, 1, kMapFirst, "len(@map), len(kstack)",
     "number of keys of a map or frames of a stack"},
    {Fn::Exit, "exit", 0, 1, kAction | kValue, "exit([code])", "end the script"},
    {Fn::Time, "time", 0, 1, kAction, "time([\"format\"])", "print the time of day"},
    {Fn::Cat, "cat", 1, kMany, kAction, "cat(\"path format\", ...)", "print a file"},
    {Fn::Join, "join", 1, 2, kAction, "join(char **[, \"separator\"])",
     "print an array of strings"},
    {Fn::System, "system", 1, kMany, kAction | kUnsafe, "system(\"command format\", ...)",
     "run a shell command"},
    {Fn::Signal, "signal", 1, 1, kAction | kUnsafe, "signal(number or \"NAME\")",
     "send a signal to the current process"},
    {Fn::SignalThread, "signal_thread", 1, 1, kAction | kUnsafe,
     "signal_thread(number or \"NAME\")", "send a signal to the current thread"},
    {Fn::Override, "override", 1, 1, kAction | kUnsafe, "override(value)",
     "make the traced function return a value"},
    {Fn::WriteUser, "write_user", 3, 3, kAction | kUnsafe, "write_user(to, from, length)",
     "write to user memory"},
    {Fn::Unwatch, "unwatch", 1, 1, kAction, "unwatch(address)", "remove a watchpoint"},
    {Fn::Assert, "assert", 2, 2, kAction, "assert(condition, \"message\")",
     "end with an error unless a condition holds"},
    {Fn::StaticAssert, "static_assert", 2, 2, kAction | kCompileTime,
     "static_assert(condition, \"message\")", "refuse to compile unless a condition holds"},
    {Fn::Fail, "fail", 1, kMany, kAction | kCompileTime, "fail(\"format\", ...)",
     "refuse to compile"},
    {Fn::Getopt, "getopt", 1, 3, 0, "getopt(\"name\"[, default[, \"description\"]])",
     "a named option of the script"},
    {Fn::KfuncExist, "kfunc_exist", 1, 1, kCompileTime, "kfunc_exist(\"name\")",
     "whether the kernel has a kfunc"},
    {Fn::KfuncAllowed, "kfunc_allowed", 1, 1, kCompileTime, "kfunc_allowed(\"name\")",
     "whether this probe may call a kfunc"},

    {Fn::Count, "count", 0, 0, kAggregation, "@ = count()", "number of times"},
    {Fn::Sum, "sum", 1, 1, kAggregation, "@ = sum(n)", "total"},
    {Fn::Min, "min", 1, 1, kAggregation, "@ = min(n)", "smallest value"},
    {Fn::Max, "max", 1, 1, kAggregation, "@ = max(n)", "largest value"},
    {Fn::Avg, "avg", 1, 1, kAggregation, "@ = avg(n)", "mean"},
    {Fn::Stats, "stats", 1, 1, kAggregation, "@ = stats(n)", "count, mean and total"},
    {Fn::Hist, "hist", 1, 2, kAggregation, "@ = hist(n[, bits])", "histogram by powers of two"},
    {Fn::Lhist, "lhist", 4, 4, kAggregation, "@ = lhist(n, min, max, step)", "linear histogram"},
    {Fn::Tseries, "tseries", 3, 4, kAggregation,
     "@ = tseries(n, interval, buckets[, \"avg|max|min|sum\"])", "values over time"},
};

std::span<const Builtin> all_builtins() { return kBuiltins; }

int argument_number(std::string_view name) {
  if (name.size() < 4 || name.size() > 5 || name.substr(0, 3) != "arg") return -1;
  std::optional<int64_t> number = parse_number(name.substr(3));
  bool has_leading_zero = name.size() == 5 && name[3] == '0';
  return number && *number >= 0 && !has_leading_zero ? static_cast<int>(*number) : -1;
}

const Builtin* find_builtin(std::string_view name) {
  static const std::unordered_map<std::string_view, const Builtin*> by_name = [] {
    std::unordered_map<std::string_view, const Builtin*> map;
    for (const Builtin& builtin : kBuiltins) map.emplace(builtin.name, &builtin);
    return map;
  }();
  auto found = by_name.find(argument_number(name) >= 0 ? "arg0" : name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace flowtap
