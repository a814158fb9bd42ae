// SameNames: two keys are the same when their parts that are shown as names have the same names,
// and all their other bytes are equal. So ("a,b", "c") and ("a", "b,c") stay apart, although text
// shows both as "a,b,c".

#include "output/same_names.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "output/decode.h"
#include "output/merge.h"
#include "output/value_text.h"

namespace flowtap {

// Several values can have one name.
static bool is_named(const Type& type) {
  switch (type->kind) {
    case Kind::KStack:
    case Kind::UStack:
    case Kind::KSym:
    case Kind::USym:
    case Kind::Username:
    case Kind::CgroupPath:
    case Kind::Timestamp: return true;
    case Kind::Array: return is_named(type->element);
    case Kind::Tuple:
    case Kind::Record:
      return std::any_of(type->fields.begin(), type->fields.end(),
                         [](const Field& field) { return is_named(field.type); });
    default: return false;
  }
}

static void append_identity(std::string& out, const Type& type, Bytes bytes,
                            const ValueContext& context) {
  if (!is_named(type)) {
    out.append(reinterpret_cast<const char*>(bytes.data()), type->size);
  } else if (is(type, Kind::Tuple) || is(type, Kind::Record)) {
    for (const Field& field : type->fields)
      append_identity(out, field.type, field_bytes(field, bytes), context);
  } else if (is(type, Kind::Array)) {
    for (size_t at = 0; at < type->size; at += type->element->size)
      append_identity(out, type->element, bytes.subspan(at), context);
  } else {
    append_text(out, type, bytes, context, TextStyle::Compact);
    out += '\0';
  }
}

SameNames::SameNames(const MapContent& map, const ValueContext& context)
    : entries_(map.entries.begin(), map.entries.end()) {
  if (!map.key || !is_named(map.key) || !is_aggregation(map.value)) return;
  struct Kept {
    size_t entry;
    std::optional<size_t> joined;  // index of its own value
  };
  std::unordered_map<std::string, Kept> seen;
  size_t kept = 0;
  for (const MapEntry& entry : map.entries) {
    std::string identity;
    append_identity(identity, map.key, entry.key, context);
    auto [place, is_new] = seen.try_emplace(std::move(identity), Kept{kept, {}});
    if (is_new) {
      entries_[kept++] = entry;
      continue;
    }
    Kept& first = place->second;
    if (!first.joined) {
      first.joined = joined_.size();
      Bytes value = entries_[first.entry].value.first(map.value->size);
      joined_.emplace_back(value.begin(), value.end());
    }
    merge_value(map.value, entry.value, joined_[*first.joined]);
  }
  entries_.resize(kept);
  for (const auto& [identity, one] : seen)
    if (one.joined) entries_[one.entry].value = joined_[*one.joined];
}

}  // namespace flowtap
