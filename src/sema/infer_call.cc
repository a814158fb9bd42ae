// Inference over calls of builtins that yield a value; actions are in infer_action.cc.

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/ip_prefix.h"
#include "base/text.h"
#include "builtins/probes.h"
#include "builtins/registers.h"
#include "sema/infer.h"
#include "types/format.h"
#include "types/layout.h"

namespace flowtap {

void Inferrer::infer_call(const Expr& expr, const Call& node, ExprInfo& result) {
  const Builtin* builtin = find_builtin(node.name);
  if (node.name == "typeinfo") return infer_type_info(expr, node, result);
  if (!builtin) {
    for (const ExprPtr& arg : node.args) infer(*arg);
    std::vector<std::string> names;
    for (const Builtin& row : all_builtins()) names.emplace_back(row.name);
    Diagnostic& report = error(expr.span, fmt::format("there is no function '{}'", node.name));
    if (auto near = nearest(node.name, names))
      report.with_hint(fmt::format("did you mean '{}'?", *near));
    return;
  }
  infer_builtin(expr, *builtin, node.args, node.name, result);
}

// typeinfo(type or expression): a record of constants.
void Inferrer::infer_type_info(const Expr& expr, const Call& node, ExprInfo& result) {
  if (program_.config.unstable_typeinfo == Unstable::Error)
    error(expr.span, "'typeinfo' is switched off, since it may still change")
        .with_hint("switch it on: config = { unstable_typeinfo = enable }");
  else if (program_.config.unstable_typeinfo == Unstable::Warn)
    warning(expr.span, "'typeinfo' may still change")
        .with_hint("config = { unstable_typeinfo = enable } silences this");
  Type type = resolve_type(std::get<Typeof>(node.args[0]->node).type);
  info(*node.args[0]).type = type;
  if (!is(type, Kind::Unknown)) result.type = type_info_record(type);
}

// Builtins some of whose arguments are words of their own: nsecs(monotonic), kstack(perf, 3).
static bool takes_words(Fn id) {
  return id == Fn::Pid || id == Fn::Tid || id == Fn::Nsecs || id == Fn::Kstack ||
         id == Fn::Ustack || id == Fn::DwUstack;
}

static constexpr int64_t kMostFrames = 1024;
// Bytes that memcmp() compares, eight at a time in code of their own.
static constexpr int64_t kMostCompared = 16384;

// Room for the longest error text, signal or system call name.
static constexpr uint32_t kNameSize = 64;

// What `probetype` reads: probes that are no event of the kernel share one name.
static std::string_view probe_type_name(ProbeKind kind) {
  bool is_special = kind == ProbeKind::Begin || kind == ProbeKind::End || kind == ProbeKind::Self;
  return is_special ? "special" : probe_row(kind).name;
}

static bool is_word(const Expr& expr) { return std::holds_alternative<Identifier>(expr.node); }

static std::string word_of(const Expr& expr) {
  const Identifier* word = std::get_if<Identifier>(&expr.node);
  return word ? word->name : std::string();
}

static bool is_compiled_text(Fn id, size_t argument) {
  switch (id) {
    case Fn::Printf:
    case Fn::Errorf:
    case Fn::Warnf:
    case Fn::Cat:
    case Fn::System:
    case Fn::Time:
    case Fn::Strftime:
    case Fn::Fail: return argument == 0;
    case Fn::Assert:
    case Fn::StaticAssert: return argument == 1;
    case Fn::Getopt: return argument != 1;
    case Fn::InPrefix: return argument == 1;
    default: return false;
  }
}

// What these stand for depends on the probe, and so does their type.
static bool belongs_to_probe(Fn id) {
  switch (id) {
    case Fn::Args:
    case Fn::ArgN:
    case Fn::Ctx:
    case Fn::Func:
    case Fn::Register:
    case Fn::Retval:
    case Fn::Uaddr: return true;
    default: return false;
  }
}

void Inferrer::infer_builtin(const Expr& expr, const Builtin& builtin,
                             const std::vector<ExprPtr>& args, std::string_view name,
                             ExprInfo& result) {
  result.builtin = &builtin;
  size_t n = args.size();
  if (n < builtin.min_args || n > builtin.max_args) {
    for (const ExprPtr& arg : args) infer(*arg);
    error(expr.span,
          fmt::format("{}() does not take {} argument{}", builtin.name, n, n == 1 ? "" : "s"))
        .with_hint(fmt::format("use it as: {}", builtin.usage));
    return;
  }
  if (builtin.has(kUnsafe) && !options_.is_unsafe) {
    for (const ExprPtr& arg : args) infer(*arg);
    error(expr.span,
          fmt::format("{}() can change the system and needs the option --unsafe", builtin.name));
    return;
  }
  if (function_ && belongs_to_probe(builtin.id)) {
    for (const ExprPtr& arg : args) infer(*arg);
    error(expr.span, fmt::format("'{}' is not known in a function, which any probe may call", name))
        .with_hint("pass it as an argument");
    return;
  }
  for (size_t i = 0; i < n; i++) {
    bool is_map = i == 0 && std::holds_alternative<MapAccess>(args[i]->node) &&
                  (builtin.has(kMapFirst) || builtin.id == Fn::Print);
    bool is_member = builtin.id == Fn::ContainerOf && i > 0;
    bool is_table = i == 0 && builtin.id == Fn::Print && find_table(word_of(*args[i]));
    if (is_map || is_member || is_table || (takes_words(builtin.id) && is_word(*args[i]))) continue;
    bool outer = std::exchange(is_for_compiler_, is_compiled_text(builtin.id, i));
    infer(*args[i]);
    is_for_compiler_ = outer;
  }
  if (infer_folded_call(expr, builtin, args, result)) return;
  Type type = builtin_type(expr, builtin, args, name);
  info(expr).type = type;
}

Type Inferrer::builtin_type(const Expr& expr, const Builtin& builtin,
                            const std::vector<ExprPtr>& args, std::string_view name) {
  Type u32 = int_type(4, false), u64 = int_type(8, false);
  switch (builtin.id) {
    case Fn::Pid:
    case Fn::Tid:
      if (!args.empty() && word_of(*args[0]) != "init" && word_of(*args[0]) != "curr_ns")
        error(args[0]->span, fmt::format("{}() takes 'init' or 'curr_ns'", builtin.name));
      return u32;
    case Fn::Cpu:
    case Fn::Rand:
    case Fn::Cpid:
    case Fn::Numaid:
    case Fn::Ncpus: return u32;
    case Fn::Uid:
    case Fn::Gid:
    case Fn::Elapsed:
    case Fn::Jiffies:
    case Fn::Cgroup: return u64;
    case Fn::Nsecs: {
      std::string clock = args.empty() ? "boot" : word_of(*args[0]);
      if (clock != "boot" && clock != "monotonic" && clock != "tai" && clock != "sw_tai")
        error(args[0]->span, "nsecs() takes 'boot', 'monotonic', 'tai' or 'sw_tai'");
      return u64;
    }
    case Fn::HasCpid: return bool_type();
    case Fn::Config: return config_type();
    case Fn::Username: return simple_type(Kind::Username, 8);
    case Fn::Comm:
    case Fn::Pcomm:
    case Fn::Ppid:
    case Fn::LeaderComm:
    case Fn::LeaderTid:
    case Fn::Curtask: return task_type(expr, builtin, args);
    case Fn::ProbeName:
      return string_type(static_cast<uint32_t>(instance_->attach[0].name.size() + 1));
    case Fn::ProbeType:
      return string_type(static_cast<uint32_t>(probe_type_name(instance_->kind).size() + 1));
    case Fn::Func:
    case Fn::Retval:
    case Fn::ArgN:
    case Fn::Args:
    case Fn::Ctx:
    case Fn::Usermode:
    case Fn::Register: return context_type(expr, builtin, args, name);
    case Fn::Kstack:
    case Fn::Ustack: return stack_call_type(expr, builtin, args);
    case Fn::DwUstack: check_unwinding(expr); return stack_call_type(expr, builtin, args);
    case Fn::Count:
    case Fn::Sum:
    case Fn::Min:
    case Fn::Max:
    case Fn::Avg:
    case Fn::Stats:
    case Fn::Hist:
    case Fn::Lhist:
    case Fn::Tseries: return aggregation_type(expr, builtin, args);
    case Fn::Clear:
    case Fn::Zero:
    case Fn::Delete:
    case Fn::HasKey:
    case Fn::Find:
    case Fn::Len: return map_function_type(expr, builtin, args);
    case Fn::Getopt: return getopt_type(expr, args, info(expr));
    default: break;
  }
  if (builtin.has(kAction)) return action_type(expr, builtin, args);
  return memory_function_type(expr, builtin, args);
}

// All settings as one record.
Type Inferrer::config_type() {
  std::vector<std::pair<std::string, Type>> fields;
  for (const std::string& key : config_keys()) {
    ConfigValue value = *config_value(program_.config, key);
    fields.emplace_back(key, !value.number
                                 ? string_type(static_cast<uint32_t>(value.text.size() + 1))
                             : value.is_bool ? bool_type()
                                             : int_type(8, false));
  }
  return record_type(std::move(fields));
}

Type Inferrer::task_type(const Expr& expr, const Builtin& builtin,
                         const std::vector<ExprPtr>& args) {
  if (builtin.id == Fn::Comm && !args.empty()) return comm_of_pid_type(*args[0]);
  Type task = target_.find_type("struct task_struct");
  if (builtin.id == Fn::Comm) return string_type(16);
  if (!task) {
    error(expr.span, fmt::format("'{}' needs the kernel's type information (BTF), which this "
                                 "kernel lacks",
                                 builtin.name));
    return unknown_type();
  }
  if (builtin.id == Fn::Curtask) return pointer_type(task, AddressSpace::Kernel);
  return builtin.id == Fn::Ppid || builtin.id == Fn::LeaderTid ? int_type(4, false)
                                                               : string_type(16);
}

Type Inferrer::context_type(const Expr& expr, const Builtin& builtin,
                            const std::vector<ExprPtr>& args, std::string_view name) {
  const ProbeRow& row = probe_row(instance_->kind);
  auto refuse = [&](std::string_view where) {
    error(expr.span, fmt::format("'{}' is not available in {} probes", name, row.name))
        .with_hint(fmt::format("it exists in {} probes", where));
    return unknown_type();
  };
  switch (builtin.id) {
    case Fn::Func:
      if (!row.has(kHasFunc)) return refuse("function");
      return row.has(kUserSpace) ? simple_type(Kind::USym, kUSymSize) : simple_type(Kind::KSym, 8);
    case Fn::Retval:
      if (!row.has(kHasRetval)) return refuse("kretprobe, fexit and uretprobe");
      return instance_->result && !is(instance_->result, Kind::None) ? instance_->result
                                                                     : int_type(8, false);
    case Fn::ArgN: {
      if (!row.has(kHasArgN)) return refuse("kprobe, uprobe, usdt and rawtracepoint");
      size_t number = static_cast<size_t>(argument_number(name));
      if (instance_->kind == ProbeKind::Usdt) {
        if (number >= instance_->usdt_args.size()) {
          error(expr.span, fmt::format("{} has {} arguments and no '{}'", instance_->attach[0].name,
                                       instance_->usdt_args.size(), name));
          return unknown_type();
        }
        return int_type(instance_->usdt_args[number].bytes, instance_->usdt_args[number].is_signed);
      }
      bool has_signature = instance_->kind == ProbeKind::RawTracepoint && instance_->args;
      if (has_signature && number >= instance_->args->fields.size()) {
        error(expr.span, fmt::format("{} has {} arguments and no '{}'", instance_->attach[0].name,
                                     instance_->args->fields.size(), name));
        return unknown_type();
      }
      return int_type(8, instance_->kind == ProbeKind::Kprobe);
    }
    case Fn::Args:
      if (!instance_->args)
        return refuse("tracepoint, rawtracepoint, fentry, fexit, uprobe and iter");
      return instance_->args;
    case Fn::Ctx:
      if (instance_->kind == ProbeKind::Iter)
        return pointer_type(instance_->args, AddressSpace::Context);
      return pointer_type(none_type(), AddressSpace::Context);
    case Fn::Register: {
      if (!row.has(kHasArgN) || row.program != ProgramType::Kprobe)
        return refuse("kprobe and uprobe");
      std::optional<std::string> wanted = expect_literal_text(*args[0], "reg");
      if (wanted && !register_offset(*wanted))
        error(args[0]->span, fmt::format("there is no register '{}'", *wanted))
            .with_hint("the registers are " + register_names());
      return int_type(8, false);
    }
    default:  // usermode: in the saved registers
      if (row.program != ProgramType::Kprobe && row.program != ProgramType::PerfEvent)
        return refuse("kprobe, uprobe, profile, interval, software and hardware");
      return int_type(1, false);
  }
}

Type Inferrer::stack_call_type(const Expr& expr, const Builtin& builtin,
                               const std::vector<ExprPtr>& args) {
  Kind kind = builtin.id == Fn::Kstack ? Kind::KStack : Kind::UStack;
  StackMode mode = program_.config.stack_mode;
  int64_t limit = 127;
  bool has_mode = false, has_limit = false;
  for (const ExprPtr& arg : args) {
    bool is_mode = is_word(*arg);
    if (std::exchange(is_mode ? has_mode : has_limit, true))
      error(arg->span, fmt::format("{}() takes one {}", builtin.name, is_mode ? "mode" : "limit"));
    if (is_mode) {
      std::optional<StackMode> given = parse_stack_mode(word_of(*arg));
      if (given)
        mode = *given;
      else
        error(arg->span, fmt::format("'{}' is not a stack mode", word_of(*arg)))
            .with_hint("the modes are bpftrace, perf, raw, build_id and folded");
    } else if (std::optional<int64_t> number = info(*arg).value) {
      if (expect_within(*arg, fmt::format("the limit of {}()", builtin.name), 0, kMostFrames))
        limit = *number;
    } else {
      error(arg->span,
            fmt::format("the limit of {}() must be known at compile time", builtin.name));
    }
  }
  if (mode == StackMode::BuildId && kind == Kind::KStack) {
    if (!args.empty()) error(expr.span, "build ids exist for user stacks only");
    mode = StackMode::Bpftrace;
  }
  if (mode == StackMode::BuildId && builtin.id == Fn::DwUstack) {
    error(expr.span, "dw_ustack() does not know build ids").with_hint("ustack(build_id) does");
    mode = StackMode::Bpftrace;
  }
  uint32_t frames = static_cast<uint32_t>(limit);
  uint32_t frame_size = mode == StackMode::BuildId ? kBuildIdFrameSize : 8;
  return stack_type(kind, mode, frames, kStackHeader + frames * frame_size);
}

// The text of fail("format", literals...).
std::string Inferrer::fail_message(const std::vector<ExprPtr>& args) {
  std::optional<std::string> format = expect_literal_text(*args[0], "fail");
  Result<std::vector<FormatPiece>> pieces = parse_format(format.value_or(""));
  if (!format || !pieces.ok()) return "fail() was reached";
  std::string out;
  size_t next = 1;
  for (const FormatPiece& piece : *pieces) {
    out += piece.literal;
    if (piece.conversion == Conversion::None) continue;
    if (next == args.size()) break;
    const ExprInfo& value = info(*args[next++]);
    if (value.text)
      out += *value.text;
    else if (value.value)
      out += std::to_string(*value.value);
    else
      out += "?";
  }
  return out;
}

// Calls that are a constant at compile time; true when this was one.
bool Inferrer::infer_folded_call(const Expr& expr, const Builtin& builtin,
                                 const std::vector<ExprPtr>& args, ExprInfo& result) {
  auto yes_no = [&](bool value) {
    info(expr).type = bool_type();
    info(expr).value = value;
    return true;
  };
  switch (builtin.id) {
    case Fn::IsPtr: return yes_no(is(info(*args[0]).type, Kind::Pointer));
    case Fn::IsStr: return yes_no(is(info(*args[0]).type, Kind::String));
    case Fn::IsArray: return yes_no(is(info(*args[0]).type, Kind::Array));
    case Fn::IsInteger: return yes_no(is(info(*args[0]).type, Kind::Int));
    case Fn::IsUnsignedInteger:
      return yes_no(is(info(*args[0]).type, Kind::Int) && !info(*args[0]).type->is_signed);
    case Fn::InPrefix: return info(*args[1]).text == "" && yes_no(true);
    case Fn::IsLiteral: {
      const Expr& arg = *args[0];
      return yes_no(std::holds_alternative<IntegerLiteral>(arg.node) ||
                    std::holds_alternative<StringLiteral>(arg.node) ||
                    std::holds_alternative<BoolLiteral>(arg.node));
    }
    case Fn::ProbeName:
      if (instance_->attach.size() == 1) result.text = instance_->attach[0].name;
      return false;
    case Fn::ProbeType: result.text = std::string(probe_type_name(instance_->kind)); return false;
    case Fn::Ncpus: result.value = target_.cpus(); return false;
    case Fn::HasCpid: result.value = options_.child_pid.has_value(); return false;
    case Fn::Cpid: result.value = options_.child_pid.value_or(0); return false;
    case Fn::Strcap:
      if (is(info(*args[0]).type, Kind::String))
        set_constant(result, info(*args[0]).type->size - 1, true);
      else
        expect_string(*args[0], "strcap"), info(expr).type = int_type(8, false);
      return true;
    case Fn::Kaddr: {
      std::optional<std::string> symbol = expect_literal_text(*args[0], "kaddr");
      std::optional<uint64_t> address = symbol ? target_.kernel_symbol(*symbol) : std::nullopt;
      if (symbol && !address)
        error(args[0]->span, fmt::format("the kernel has no symbol '{}'", *symbol));
      info(expr).type = int_type(8, false);
      if (address) info(expr).value = static_cast<int64_t>(*address);
      return true;
    }
    case Fn::Cgroupid: {
      std::optional<std::string> path = expect_literal_text(*args[0], "cgroupid");
      std::optional<uint64_t> id = path ? target_.cgroup_id(*path) : std::nullopt;
      if (path && !id) error(args[0]->span, fmt::format("'{}' is not a cgroup", *path));
      info(expr).type = int_type(8, false);
      if (id) info(expr).value = static_cast<int64_t>(*id);
      return true;
    }
    case Fn::KfuncExist: {
      std::optional<std::string> name = expect_literal_text(*args[0], builtin.name);
      return yes_no(name && target_.kfunc_id(*name).has_value());
    }
    case Fn::KfuncAllowed: {
      std::optional<std::string> name = expect_literal_text(*args[0], builtin.name);
      return yes_no(name && target_.can_call_kfunc(*name, probe_row(instance_->kind).program));
    }
    case Fn::StaticAssert: {
      std::optional<int64_t> condition = expect_literal_number(*args[0], "static_assert");
      std::optional<std::string> text = expect_literal_text(*args[1], "static_assert");
      if (condition && !*condition && text)
        error(expr.span, fmt::format("static_assert failed: {}", *text));
      info(expr).type = none_type();
      return true;
    }
    case Fn::Fail:
      error(expr.span, fail_message(args));
      info(expr).type = none_type();
      return true;
    default: return false;
  }
}

// Functions on strings, memory and addresses.
Type Inferrer::memory_function_type(const Expr& expr, const Builtin& builtin,
                                    const std::vector<ExprPtr>& args) {
  const Type& first = info(*args[0]).type;
  switch (builtin.id) {
    case Fn::Str: return string_call_type(expr, args);
    case Fn::Buf: return buffer_call_type(expr, args);
    case Fn::Strlen: expect_string(*args[0], "strlen"); return int_type(8, false);
    case Fn::StrConcat: {
      if (!expect_string(*args[0], "str_concat") || !expect_string(*args[1], "str_concat"))
        return unknown_type();
      uint64_t size = uint64_t{first->size} + info(*args[1]).type->size - 1;
      return string_type(static_cast<uint32_t>(
          std::min<uint64_t>(size, std::max<uint64_t>(program_.config.max_strlen, first->size))));
    }
    case Fn::Strstr:
    case Fn::Strcontains:
      expect_string(*args[0], builtin.name);
      expect_string(*args[1], builtin.name);
      return builtin.id == Fn::Strstr ? int_type(8, true) : bool_type();
    case Fn::Strncmp:
    case Fn::Memcmp: {
      if (builtin.id == Fn::Strncmp)
        expect_string(*args[0], "strncmp"), expect_string(*args[1], "strncmp");
      else
        expect_bytes(*args[0], "memcmp"), expect_bytes(*args[1], "memcmp");
      if (expect_literal_number(*args[2], builtin.name))
        expect_within(*args[2], fmt::format("the length of {}()", builtin.name), 0,
                      builtin.id == Fn::Memcmp ? kMostCompared : INT64_MAX);
      return int_type(8, true);
    }
    case Fn::Strerror:
    case Fn::SignalName:
    case Fn::SyscallName: expect_integer(*args[0], builtin.name); return string_type(kNameSize);
    case Fn::Bswap:
      return expect_integer(*args[0], "bswap")
                 ? int_type(std::max(1u, readable(first)->size), false)
                 : unknown_type();
    case Fn::Ntop: {
      const Expr& address = *args.back();
      Type type = readable(info(address).type);
      bool fits = is_integer(type) ||
                  (is(type, Kind::Array) && (type->size == 4 || type->size == 16)) ||
                  (is(type, Kind::String) && (type->size == 4 || type->size == 16));
      bool is_pointer_to_bytes =
          is(type, Kind::Pointer) && (type->element->size == 4 || type->element->size == 16);
      if (!fits && !is_pointer_to_bytes && !is(type, Kind::Unknown))
        error(address.span, fmt::format("ntop() takes an IPv4 integer or 4 or 16 bytes, found '{}'",
                                        type_name(type)));
      uint32_t size = is_pointer_to_bytes ? type->element->size : type->size;
      if (args.size() == 2) check_family(*args[0], is_integer(type) ? 4 : size);
      return simple_type(Kind::Inet, kInetSize);
    }
    case Fn::InPrefix: {
      if (!is(first, Kind::Inet) && !is(first, Kind::Unknown))
        error(args[0]->span,
              fmt::format("in_prefix() takes an address, found '{}'", type_name(first)))
            .with_hint("ntop() makes an address of it");
      std::optional<std::string> text = expect_literal_text(*args[1], "in_prefix");
      if (text && !parse_prefix(*text))
        error(args[1]->span, fmt::format("'{}' is not a prefix of IPv4 or IPv6 addresses", *text))
            .with_hint("write it as 10.1.0.0/16, fe80::/10 or a whole address");
      return bool_type();
    }
    case Fn::Pton: {
      std::optional<std::string> text = expect_literal_text(*args[0], "pton");
      unsigned char bytes[16];
      bool is_v6 = text && inet_pton(AF_INET6, text->c_str(), bytes) == 1;
      if (text && !is_v6 && inet_pton(AF_INET, text->c_str(), bytes) != 1)
        error(args[0]->span, fmt::format("'{}' is not an IPv4 or IPv6 address", *text));
      return array_type(int_type(1, false), is_v6 ? 16 : 4);
    }
    case Fn::Macaddr: {
      bool fits = (is(first, Kind::Array) || is(first, Kind::String)) ? first->size == 6
                                                                      : is(first, Kind::Pointer);
      if ((!fits || info(*args[0]).text) && !is(first, Kind::Unknown))
        error(args[0]->span, fmt::format("macaddr() takes 6 bytes, found '{}'", type_name(first)));
      return simple_type(Kind::Mac, 6);
    }
    case Fn::Kptr:
    case Fn::Uptr: {
      AddressSpace space = builtin.id == Fn::Kptr ? AddressSpace::Kernel : AddressSpace::User;
      if (is(first, Kind::Pointer)) return pointer_type(first->element, space);
      expect_integer(*args[0], builtin.name);
      return pointer_type(none_type(), space);
    }
    case Fn::Ksym: expect_address(*args[0], "ksym"); return simple_type(Kind::KSym, 8);
    case Fn::Usym: expect_address(*args[0], "usym"); return simple_type(Kind::USym, kUSymSize);
    case Fn::CgroupPath:
      expect_integer(*args[0], "cgroup_path");
      if (args.size() > 1) expect_literal_text(*args[1], "cgroup_path");
      return simple_type(Kind::CgroupPath, kCgroupPathSize);
    case Fn::Strftime:
      expect_literal_text(*args[0], "strftime");
      expect_integer(*args[1], "strftime");
      if (info(*args[1]).value.value_or(0) < 0 && !info(*args[1]).is_literal)
        error(args[1]->span, "strftime() takes no time before the start of the clock");
      if (const Builtin* clock = info(*args[1]).builtin; clock && clock->id == Fn::Nsecs)
        if (auto* call = std::get_if<Call>(&args[1]->node);
            call && !call->args.empty() && word_of(*call->args[0]) == "monotonic")
          error(args[1]->span, "strftime() cannot place a time of the monotonic clock")
              .with_hint("use nsecs or nsecs(tai)");
      return simple_type(Kind::Timestamp, kTimestampSize);
    case Fn::IsErr: expect_address(*args[0], "is_err"); return bool_type();
    case Fn::ContainerOf: return container_type(args);
    case Fn::SocketCookie:
      if (!points_to(first, "struct sock") && !is(first, Kind::Unknown))
        error(args[0]->span,
              fmt::format("socket_cookie() takes a 'struct sock *', found '{}'", type_name(first)));
      return int_type(8, false);
    case Fn::Path: return path_type(expr, args);
    case Fn::PercpuKaddr: return percpu_type(args);
    case Fn::Uaddr: return uaddr_type(expr, args);
    case Fn::Skboutput: return skboutput_type(args);
    default:
      error(expr.span, fmt::format("{}() is not available yet", builtin.name));
      return unknown_type();
  }
}

}  // namespace flowtap
