// Inference over builtins that reach into the kernel or the traced program by special means:
// each says what it needs, and where the machine does not have it, so.

#include "sema/infer_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "builtins/probes.h"

namespace flowtap {

std::string word_of(const Expr& expr) {
  const Identifier* word = std::get_if<Identifier>(&expr.node);
  return word ? word->name : std::string();
}

std::vector<std::string> member_path(const Expr& expr) {
  if (auto* word = std::get_if<Identifier>(&expr.node)) return {word->name};
  auto* member = std::get_if<Member>(&expr.node);
  if (!member) return {};
  std::vector<std::string> path = member_path(*member->base);
  if (!path.empty()) path.push_back(member->name);
  return path;
}

// Functions from which the kernel lets a program ask for a path (bpf_d_path, 6.18); iterators may
// always.
static bool may_ask_for_path(const Instance& instance) {
  const ProbeRow& row = probe_row(instance.kind);
  if (row.family == ProbeFamily::Iterator) return true;
  if (row.family != ProbeFamily::Function || !row.has(kHasArgs)) return false;
  static constexpr std::string_view kFunctions[] = {"vfs_truncate", "vfs_fallocate", "dentry_open",
                                                    "vfs_getattr", "filp_close"};
  for (const AttachPoint& point : instance.attach)
    if (std::find(std::begin(kFunctions), std::end(kFunctions), point.function) ==
        std::end(kFunctions))
      return false;
  return true;
}

// The kernel must know what the pointer points to, which it does for the probe's arguments and
// for what is embedded in the structs they point to.
static bool is_known_to_kernel(const CheckedProgram& program, const Expr& expr) {
  auto* member = std::get_if<Member>(&expr.node);
  if (!member) return false;
  const ExprInfo& base = program.of(*member->base);
  bool is_argument = (base.builtin && base.builtin->id == Fn::Args) ||
                     (is(base.type, Kind::Pointer) && base.type->space == AddressSpace::Context);
  if (is_argument) return true;
  auto* inner = std::get_if<Member>(&member->base->node);
  if (!inner) return false;
  const ExprInfo& outer = program.of(*inner->base);
  bool base_is_argument =
      (outer.builtin && outer.builtin->id == Fn::Args) ||
      (is(outer.type, Kind::Pointer) && outer.type->space == AddressSpace::Context);
  return base_is_argument ||
         (is(base.type, Kind::Struct) && is_known_to_kernel(program, *member->base));
}

// container_of(pointer, type, member.of.it)
Type KernelFunctions::container_type(const std::vector<ExprPtr>& args) {
  if (!is(info(*args[0]).type, Kind::Pointer) &&
      !arguments_.expect_integer(*args[0], "container_of"))
    return unknown_type();
  Type container = types_.type_argument(*args[1]);
  std::vector<std::string> path = member_path(*args[2]);
  if (path.empty()) error(args[2]->span, "container_of() takes the name of a member here");
  if (is(container, Kind::Unknown) || path.empty()) return unknown_type();
  if (!is(container, Kind::Struct)) {
    error(args[1]->span,
          fmt::format("container_of() takes a struct here, found '{}'", type_name(container)));
    return unknown_type();
  }
  if (!member_offset(container, path)) {
    error(args[2]->span,
          fmt::format("'{}' has no member '{}'", type_name(container), fmt::join(path, ".")));
    return unknown_type();
  }
  const Type& from = info(*args[0]).type;
  return pointer_type(container, is(from, Kind::Pointer) ? from->space : types_.default_space());
}

std::optional<uint32_t> KernelFunctions::member_offset(Type type,
                                                       const std::vector<std::string>& path) {
  uint32_t offset = 0;
  for (const std::string& name : path) {
    if (is(type, Kind::Struct)) type = types().complete(type);
    const Field* field = find_field(type, name);
    if (!field) return std::nullopt;
    offset += field->offset;
    type = field->type;
  }
  return offset;
}

Type KernelFunctions::path_type(const Expr& expr, const std::vector<ExprPtr>& args) {
  uint64_t size = program_.config.max_strlen;
  if (args.size() > 1) {
    std::optional<int64_t> given = arguments_.expect_literal_number(*args[1], "path");
    bool is_right = given && arguments_.expect_within(*args[1], "the size of path()", 1, PATH_MAX);
    size = is_right ? static_cast<uint64_t>(*given) : 1;
  }
  Type result = string_type(static_cast<uint32_t>(size));
  const Type& type = info(*args[0]).type;
  if (is(type, Kind::Unknown)) return result;
  bool is_path = is(type, Kind::Struct) ? type->name == "struct path"
                                        : arguments_.points_to(type, "struct path");
  if (!is_path)
    error(args[0]->span, fmt::format("path() takes a 'struct path', found '{}'", type_name(type)));
  else if (!may_ask_for_path(*place_.instance))
    error(expr.span, fmt::format("path() is not possible in {}: the kernel allows it in iter "
                                 "probes and in few functions",
                                 place_.instance->attach[0].name))
        .with_hint(
            "it works in iter:task_file, and in fentry and fexit of vfs_truncate, "
            "vfs_fallocate, dentry_open, vfs_getattr and filp_close");
  else if (!is_known_to_kernel(program_, *args[0]))
    error(args[0]->span, "path() takes an argument of the probe or a member of one")
        .with_hint("e.g. path(args.file.f_path)");
  return result;
}

Type KernelFunctions::percpu_type(const std::vector<ExprPtr>& args) {
  Type result = pointer_type(int_type(8, false), AddressSpace::Kernel);
  const std::optional<std::string>& name = info(*args[0]).text;
  if (args.size() > 1) arguments_.expect_integer(*args[1], "percpu_kaddr");
  if (!name) return result;
  bool has_offsets = input_.target.kernel_symbol("__per_cpu_offset").has_value();
  if (has_offsets && input_.target.kernel_symbol(*name)) return result;
  Diagnostic& report = error(args[0]->span, fmt::format("the kernel has no symbol '{}'", *name));
  if (!has_offsets)
    report.with_hint("this kernel lists functions only: it lacks CONFIG_KALLSYMS_ALL");
  return result;
}

// uaddr("symbol"): the symbol lies as far from the probed place in memory as in the file.
Type KernelFunctions::uaddr_type(const Expr& expr, const std::vector<ExprPtr>& args) {
  const ProbeRow& row = probe_row(place_.instance->kind);
  if (!row.has(kUserSpace) || row.has(kHasRetval)) {
    error(expr.span, fmt::format("uaddr() is not available in {} probes", row.name))
        .with_hint("it exists in uprobe and usdt probes");
    return unknown_type();
  }
  const std::optional<std::string>& name = info(*args[0]).text;
  if (!name) return unknown_type();
  const AttachPoint& point = place_.instance->attach[0];
  if (place_.instance->attach.size() > 1) {
    error(expr.span, "uaddr() needs a probe with one attach point");
    return unknown_type();
  }
  std::optional<UserObject> object = input_.target.user_object(point.target, *name);
  if (!object) {
    error(args[0]->span, fmt::format("'{}' has no symbol '{}'", point.target, *name));
    return unknown_type();
  }
  if (!input_.target.user_address(point.target, point.file_offset)) {
    error(expr.span, fmt::format("the address of {} is not known", point.name));
    return unknown_type();
  }
  bool is_word = object->size == 1 || object->size == 2 || object->size == 4;
  return pointer_type(int_type(is_word ? static_cast<uint32_t>(object->size) : 8, false),
                      AddressSpace::User);
}

Type KernelFunctions::skboutput_type(const std::vector<ExprPtr>& args) {
  const Type& skb = info(*args[1]).type;
  if (!arguments_.points_to(skb, "struct sk_buff") && !is(skb, Kind::Unknown))
    error(args[1]->span,
          fmt::format("skboutput() takes a 'struct sk_buff *', found '{}'", type_name(skb)));
  if (arguments_.expect_integer(*args[2], "skboutput"))
    arguments_.expect_within(*args[2], "the length of skboutput()", 1, INT64_MAX);
  if (arguments_.expect_integer(*args[3], "skboutput"))
    arguments_.expect_within(*args[3], "the offset of skboutput()", 0, INT64_MAX);
  return int_type(8, true);
}

void KernelFunctions::check_override(const Expr& expr, const std::vector<ExprPtr>& args) {
  arguments_.expect_integer(*args[0], "override");
  const ProbeRow& row = probe_row(place_.instance->kind);
  if (!row.has(kCanOverride))
    error(expr.span, fmt::format("override() is not available in {} probes", row.name))
        .with_hint("it exists in kprobes of functions that allow error injection");
  else if (!input_.target.has(Feature::OverrideReturn))
    error(expr.span, "this kernel does not allow override(): it lacks CONFIG_BPF_KPROBE_OVERRIDE");
}

void KernelFunctions::check_write_user(const Expr& expr, const std::vector<ExprPtr>& args) {
  arguments_.expect_address(*args[0], "write_user");
  std::optional<int64_t> length = arguments_.expect_literal_number(*args[2], "write_user");
  arguments_.expect_bytes(*args[1], "write_user");
  if (length) arguments_.expect_within(*args[2], "the length of write_user()", 1, 1024);
  if (!input_.target.has(Feature::WriteUser))
    error(expr.span,
          "this kernel does not let programs write to user memory: it is locked down, or "
          "flowtap lacks the right");
}

}  // namespace flowtap
