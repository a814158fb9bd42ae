// BTF -> C text. Ways in: c_type_name() and c_definition().
//
// C writes a type around the name it declares: `int (*f[3])(void)`. So a declaration is built from
// the inside: start with the name, and on the way from the outermost type to the base wrap what
// stands there in `*`, `[n]` or `(...)`; parentheses keep a pointer from binding after a suffix.
// Structs with a name print as that name, those without are written out in place.

#include "types/btf_c.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace flowtap {
namespace {

constexpr size_t kMaxBtfDepth = 32;

// Damaged BTF may go in circles, which `open`, the types on the way down, shows. `parts` counts all
// that were visited: structs that hold the next one twice double the text with each step.
struct Printer {
  const Btf& btf;
  std::vector<uint32_t> open = {};
  int parts = 0;

  std::string declare(uint32_t id, std::string inner, int indent);
  std::string base(const BtfType& type, int indent);
  std::string params(const BtfType& proto, int indent);
  std::string body(const BtfType& type, int indent);
  std::string enum_body(const BtfType& type, int indent);
};

std::string_view keyword(const BtfType& type) {
  if (type.kind == BtfKind::Fwd) return type.kind_flag ? "union" : "struct";
  if (type.kind == BtfKind::Union) return "union";
  return type.kind == BtfKind::Struct ? "struct" : "enum";
}

std::string_view qualifier(BtfKind kind) {
  switch (kind) {
    case BtfKind::Const: return "const";
    case BtfKind::Volatile: return "volatile";
    case BtfKind::Restrict: return "restrict";
    default: return {};
  }
}

std::string spaced(std::string left, const std::string& right) {
  if (!right.empty() && right[0] != '[') left += ' ';
  return left + right;
}

// A pointer declarator followed by [] or () must be kept together.
std::string suffixed(const std::string& inner, const std::string& suffix) {
  return (inner.starts_with('*') ? "(" + inner + ")" : inner) + suffix;
}

std::string Printer::params(const BtfType& proto, int indent) {
  std::string list;
  for (const BtfParam& param : btf.params(proto)) {
    if (!list.empty()) list += ", ";
    list += param.type ? declare(param.type, std::string(param.name), indent) : "...";
  }
  return "(" + (list.empty() ? "void" : list) + ")";
}

std::string Printer::declare(uint32_t id, std::string inner, int indent) {
  bool is_circle = std::find(open.begin(), open.end(), id) != open.end();
  if (is_circle || open.size() > kMaxBtfDepth || ++parts > kMaxBtfParts)
    return spaced("void", inner);
  open.push_back(id);
  BtfType type = btf.type(id);
  std::string text;
  switch (type.kind) {
    case BtfKind::Ptr: text = declare(type.target, "*" + inner, indent); break;
    case BtfKind::Array: {
      BtfArray array = Btf::array_info(type);
      text = declare(array.element, suffixed(inner, fmt::format("[{}]", array.count)), indent);
      break;
    }
    case BtfKind::FuncProto: {
      std::string suffix = params(type, indent);
      text = declare(type.target, suffixed(inner, suffix), indent);
      break;
    }
    case BtfKind::TypeTag: text = declare(type.target, std::move(inner), indent); break;
    case BtfKind::Const:
    case BtfKind::Volatile:
    case BtfKind::Restrict: {
      std::string word(qualifier(type.kind));
      // On a pointer the qualifier stands after the star, elsewhere before the type.
      text = btf.type(type.target).kind == BtfKind::Ptr
                 ? declare(type.target, spaced(word, inner), indent)
                 : word + " " + declare(type.target, std::move(inner), indent);
      break;
    }
    default: text = spaced(base(type, indent), inner); break;
  }
  open.pop_back();
  return text;
}

std::string Printer::base(const BtfType& type, int indent) {
  switch (type.kind) {
    case BtfKind::Void: return "void";
    case BtfKind::Struct:
    case BtfKind::Union:
    case BtfKind::Enum:
    case BtfKind::Enum64:
    case BtfKind::Fwd:
      if (!type.name.empty()) return fmt::format("{} {}", keyword(type), type.name);
      return fmt::format("{} {}", keyword(type), body(type, indent));
    default: return std::string(type.name);
  }
}

std::string Printer::enum_body(const BtfType& type, int indent) {
  std::string text = "{\n";
  for (const BtfEnumerator& value : btf.enumerators(type))
    text += fmt::format("{:\t>{}}{} = {},\n", "", indent + 1, value.name, value.value);
  return text + fmt::format("{:\t>{}}}}", "", indent);
}

std::string Printer::body(const BtfType& type, int indent) {
  if (type.kind == BtfKind::Enum || type.kind == BtfKind::Enum64) return enum_body(type, indent);
  std::string text = "{\n";
  for (const BtfMember& member : btf.members(type)) {
    text += fmt::format("{:\t>{}}{}", "", indent + 1,
                        declare(member.type, std::string(member.name), indent + 1));
    if (member.bit_size) text += fmt::format(": {}", member.bit_size);
    text += ";\n";
  }
  return text + fmt::format("{:\t>{}}}}", "", indent);
}

}  // namespace

std::string c_type_name(const Btf& btf, uint32_t id) { return Printer{btf}.declare(id, "", 0); }

std::string c_definition(const Btf& btf, uint32_t id) {
  BtfType type = btf.type(id);
  return fmt::format("{} {} {};", keyword(type), type.name, Printer{btf}.body(type, 0));
}

}  // namespace flowtap
