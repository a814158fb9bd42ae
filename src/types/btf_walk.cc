// Follows the members of a struct as the verifier does; see btf_walk.h.

#include "types/btf_walk.h"

namespace flowtap {
namespace {

constexpr uint32_t kBytesOfPointer = 8;
constexpr int kDeepest = 32;  // damaged BTF may refer to itself

bool is_struct(const BtfType& type) {
  return type.kind == BtfKind::Struct || type.kind == BtfKind::Union;
}

struct Resolved {
  uint32_t id = 0;
  BtfType type;
};

Resolved skip_names(const Btf& btf, uint32_t id) {
  for (int depth = 0; depth < kDeepest; ++depth) {
    BtfType type = btf.type(id);
    switch (type.kind) {
      case BtfKind::Typedef:
      case BtfKind::Volatile:
      case BtfKind::Const:
      case BtfKind::Restrict:
      case BtfKind::TypeTag: id = type.target; break;
      default: return {id, type};
    }
  }
  return {};
}

// The element of an array of any dimensions, and how many there are in all; other types are one.
Resolved element_of(const Btf& btf, uint32_t id, uint64_t& count) {
  count = 1;
  Resolved found = skip_names(btf, id);
  for (int depth = 0; depth < kDeepest && found.type.kind == BtfKind::Array; ++depth) {
    BtfArray array = Btf::array_info(found.type);
    count *= array.count;
    found = skip_names(btf, array.element);
  }
  return found;
}

uint32_t size_of(const BtfType& type) {
  return type.kind == BtfKind::Ptr ? kBytesOfPointer : type.size;
}

Walk walk(const Btf& btf, uint32_t struct_id, uint32_t offset, uint32_t size, int depth) {
  BtfType outer = btf.type(struct_id);
  if (!is_struct(outer) || uint64_t{offset} + size > outer.size || depth == kDeepest)
    return Walk::Refused;
  for (const BtfMember& member : btf.members(outer)) {
    uint32_t start = member.bit_offset / 8;
    if (offset + size <= start) break;
    if (member.bit_size) {
      uint32_t end = (member.bit_offset + member.bit_size + 7) / 8;
      if (offset <= start && end <= offset + size) return Walk::Number;
      continue;
    }
    if (offset < start) break;
    uint64_t count = 1;
    Resolved element = element_of(btf, member.type, count);
    uint32_t element_size = size_of(element.type);
    if (element_size == 0) return Walk::Refused;
    uint64_t end = start + count * element_size;
    if (offset >= end) continue;
    start += (offset - start) / element_size * element_size;
    if (is_struct(element.type)) return walk(btf, element.id, offset - start, size, depth + 1);
    if (element.type.kind == BtfKind::Ptr) {
      if (size != kBytesOfPointer || offset != start) return Walk::Refused;
      if (is_struct(skip_names(btf, element.type.target).type)) return Walk::Pointer;
    }
    return offset + size > end ? Walk::Refused : Walk::Number;
  }
  return Walk::Refused;
}

}  // namespace

Walk walk(const Btf& btf, uint32_t struct_id, uint32_t offset, uint32_t size) {
  return walk(btf, struct_id, offset, size, 0);
}

}  // namespace flowtap
