// The order in which a map's entries are printed. Ways in: sorted_entries(), compare_values().
//
// Numbers ascend by value, so that the largest stand last, next to the prompt. Each entry's order
// is computed once: a histogram's is the total over all its buckets.

#include "output/map_order.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "output/decode.h"
#include "output/histogram.h"
#include "output/scalar.h"

namespace flowtap {

static int compare_numbers(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int compare_bytes(Bytes a, Bytes b, size_t size) {
  return size == 0 ? 0 : std::memcmp(a.data(), b.data(), size);
}

static int compare_fields(const Type& type, Bytes a, Bytes b) {
  for (const Field& field : type->fields) {
    int order = compare_values(field.type, field_bytes(field, a), field_bytes(field, b));
    if (order != 0) return order;
  }
  return 0;
}

static int compare_elements(const Type& type, Bytes a, Bytes b) {
  for (size_t at = 0; at < type->size; at += type->element->size) {
    int order = compare_values(type->element, a.subspan(at), b.subspan(at));
    if (order != 0) return order;
  }
  return 0;
}

int compare_values(const Type& type, Bytes a, Bytes b) {
  switch (type->kind) {
    case Kind::Bool:
    case Kind::Int:
    case Kind::Enum:
    case Kind::Pointer:
    case Kind::KSym:
      return compare_numbers(order_of(*scalar_of(type, a)), order_of(*scalar_of(type, b)));
    case Kind::USym:
    case Kind::Username:
    case Kind::Timestamp:
    case Kind::CgroupPath: {
      int order = compare_numbers(load<uint64_t>(a), load<uint64_t>(b));
      return order != 0 ? order : compare_bytes(a, b, type->size);
    }
    case Kind::String:
      return decode_string(a, type->size).text.compare(decode_string(b, type->size).text);
    case Kind::Tuple:
    case Kind::Record: return compare_fields(type, a, b);
    case Kind::Array: return compare_elements(type, a, b);
    default: return compare_bytes(a, b, type->size);
  }
}

static std::optional<uint64_t> value_order(const Type& type, Bytes value) {
  switch (type->kind) {
    case Kind::Hist:
    case Kind::Lhist: return histogram_total(value);
    case Kind::Bool:
    case Kind::Pointer:
    case Kind::KSym: return std::nullopt;
    default: break;
  }
  std::optional<Scalar> number = scalar_of(type, value);
  return number ? std::optional(order_of(*number)) : std::nullopt;
}

std::vector<MapEntry> sorted_entries(const MapContent& map) {
  struct Ordered {
    uint64_t order;
    MapEntry entry;
  };
  std::vector<Ordered> all;
  all.reserve(map.entries.size());
  for (const MapEntry& entry : map.entries)
    all.push_back({value_order(map.value, entry.value).value_or(0), entry});
  std::sort(all.begin(), all.end(), [&](const Ordered& a, const Ordered& b) {
    if (a.order != b.order) return a.order < b.order;
    return map.key && compare_values(map.key, a.entry.key, b.entry.key) < 0;
  });

  size_t skipped = map.top > 0 && map.top < all.size() ? all.size() - map.top : 0;
  std::vector<MapEntry> result;
  result.reserve(all.size() - skipped);
  for (size_t i = skipped; i < all.size(); i++) result.push_back(all[i].entry);
  return result;
}

}  // namespace flowtap
