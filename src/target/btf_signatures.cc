// Function signatures from BTF. Ways in: the three *_signature() functions.
//
// A function is a FUNC that refers to a FUNC_PROTO. A raw tracepoint `x` is known by a typedef
// that the kernel declares only to leave a trace in BTF:
//
//   typedef void (*btf_trace_x)(void *__data, ...arguments of the tracepoint...);
//
// The program attaches by that typedef's id and never sees __data. Compilers drop parameter names
// from function pointer types, so the names come from the functions that call the probes:
// __traceiter_x, or __bpf_trace_x, which exists only for the first event of a class.
//
// An iterator `x` is a FUNC bpf_iter_x, whose id is what a program attaches to, and a struct
// bpf_iter__x, which is the program's context.
//
// A BPF program gets its arguments as an array of u64; a struct passed by value takes as many
// elements as it fills, which is two at most.

#include "target/btf_signatures.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text.h"
#include "types/btf_c.h"

namespace flowtap {
namespace {

constexpr std::string_view kRawPrefix = "btf_trace_";
constexpr std::string_view kIteratorPrefix = "bpf_iter_";

BtfType prototype(const Btf& btf, uint32_t function_id) {
  return btf.type(btf.type(function_id).target);
}

// `...` stands in BTF as a last parameter of type void.
bool is_ellipsis(const BtfParam& param) { return param.type == 0 && param.name.empty(); }

void add_arguments(const BtfTypes& types, std::span<const BtfParam> params,
                   FunctionSignature& signature) {
  uint32_t offset = 0;
  for (const BtfParam& param : params) {
    if (is_ellipsis(param)) break;
    Field arg{.name = std::string(param.name), .type = types.type(param.type), .offset = offset};
    if (arg.name.empty()) arg.name = fmt::format("arg{}", signature.args.size());
    offset += static_cast<uint32_t>(align_up(std::max(1u, arg.type->size), 8));
    signature.declarations.push_back(
        fmt::format("{} {}", c_type_name(types.btf(), param.type), arg.name));
    signature.args.push_back(std::move(arg));
  }
}

// Fills in names from a function with the same parameters, if there is one.
void borrow_names(const Btf& btf, const std::string& function, std::vector<BtfParam>& params) {
  std::vector<BtfParam> named = btf.params(prototype(btf, btf.find(function, BtfKind::Func)));
  if (named.size() != params.size()) return;
  for (size_t i = 0; i < params.size(); i++)
    if (params[i].name.empty()) params[i].name = named[i].name;
}

template <typename Strip>  // a function from a BtfType to the wanted part of its name, or ""
std::vector<std::string> names_where(const Btf& btf, std::string_view pattern, Strip strip) {
  std::vector<std::string> names;
  for (uint32_t id = btf.first_id(); id < btf.end_id(); id++) {
    std::string_view name = strip(btf.type(id));
    if (!name.empty() && glob_match(pattern, name)) names.emplace_back(name);
  }
  return names;
}

std::string_view keyword_of(BtfKind kind) {
  switch (kind) {
    case BtfKind::Struct: return "struct";
    case BtfKind::Union: return "union";
    case BtfKind::Enum:
    case BtfKind::Enum64: return "enum";
    default: return {};
  }
}

std::string_view after(std::string_view prefix, std::string_view name) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view();
}

}  // namespace

std::optional<FunctionSignature> function_signature(const BtfTypes& types, std::string_view name) {
  const Btf& btf = types.btf();
  uint32_t id = btf.find(name, BtfKind::Func);
  if (!id) return std::nullopt;
  return function_signature(types, id);
}

FunctionSignature function_signature(const BtfTypes& types, uint32_t id) {
  const Btf& btf = types.btf();
  BtfType proto = prototype(btf, id);
  FunctionSignature signature{.btf_id = static_cast<int32_t>(id),
                              .result = types.type(proto.target),
                              .result_text = c_type_name(btf, proto.target)};
  add_arguments(types, btf.params(proto), signature);
  return signature;
}

std::optional<FunctionSignature> raw_tracepoint_signature(const BtfTypes& types,
                                                          std::string_view event) {
  const Btf& btf = types.btf();
  uint32_t id = btf.find(fmt::format("{}{}", kRawPrefix, event), BtfKind::Typedef);
  if (!id) return std::nullopt;
  BtfType pointer = btf.type(btf.type(id).target);
  std::vector<BtfParam> params = btf.params(btf.type(pointer.target));
  if (params.empty()) return std::nullopt;
  borrow_names(btf, fmt::format("__traceiter_{}", event), params);
  borrow_names(btf, fmt::format("__bpf_trace_{}", event), params);
  FunctionSignature signature{
      .btf_id = static_cast<int32_t>(id), .result = none_type(), .result_text = "void"};
  add_arguments(types, std::span(params).subspan(1), signature);
  return signature;
}

std::optional<FunctionSignature> iterator_signature(const BtfTypes& types, std::string_view name) {
  uint32_t id = types.btf().find(fmt::format("{}{}", kIteratorPrefix, name), BtfKind::Func);
  Type context = types.find(fmt::format("struct bpf_iter__{}", name));
  if (!id || !context) return std::nullopt;
  FunctionSignature signature{.btf_id = static_cast<int32_t>(id),
                              .args = types.complete(context)->fields,
                              .result = int_type(4, true),
                              .result_text = "int"};
  for (const Field& arg : signature.args)
    signature.declarations.push_back(fmt::format("{} {}", type_name(arg.type), arg.name));
  return signature;
}

std::vector<std::string> function_names(const Btf& btf, std::string_view pattern) {
  return names_where(btf, pattern, [](const BtfType& type) {
    return type.kind == BtfKind::Func ? type.name : std::string_view();
  });
}

std::vector<std::string> raw_tracepoint_names(const Btf& btf, std::string_view pattern) {
  return names_where(btf, pattern, [](const BtfType& type) {
    return type.kind == BtfKind::Typedef ? after(kRawPrefix, type.name) : std::string_view();
  });
}

std::vector<std::string> type_names(const Btf& btf, std::string_view pattern) {
  std::vector<std::string> names;
  for (uint32_t id = btf.first_id(); id < btf.end_id(); id++) {
    BtfType type = btf.type(id);
    std::string_view keyword = keyword_of(type.kind);
    if (keyword.empty() || type.name.empty()) continue;
    std::string name = fmt::format("{} {}", keyword, type.name);
    if (glob_match(pattern, name)) names.push_back(std::move(name));
  }
  return names;
}

std::string type_text(const Btf& btf, std::string_view name) {
  size_t space = std::min(name.find(' '), name.size());
  for (BtfKind kind : {BtfKind::Struct, BtfKind::Union, BtfKind::Enum, BtfKind::Enum64}) {
    if (keyword_of(kind) != name.substr(0, space)) continue;
    uint32_t id = btf.find(trim(name.substr(space)), kind);
    if (id) return c_definition(btf, id);
  }
  return {};
}

// Of the many functions named bpf_iter_*, the iterators are those with a context struct.
std::vector<std::string> iterator_names(const Btf& btf) {
  return names_where(btf, "*", [&btf](const BtfType& type) {
    std::string_view name = after(kIteratorPrefix, type.name);
    bool found = type.kind == BtfKind::Func && !name.empty() &&
                 btf.find(fmt::format("bpf_iter__{}", name), BtfKind::Struct) != 0;
    return found ? name : std::string_view();
  });
}

}  // namespace flowtap
