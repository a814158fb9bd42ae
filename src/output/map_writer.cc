// Whole maps. Ways in: append_map(), append_map_json(). The order is made in map_order.cc.
//
// `div` of print(@map, top, div) divides what a map entry stands for, never a number inside a
// tuple.

#include "output/map_writer.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "output/escape.h"
#include "output/json.h"
#include "output/json_string.h"
#include "output/stack.h"
#include "output/value_text.h"

namespace flowtap {

static bool has_own_lines(const Type& type) {
  return is(type, Kind::Hist) || is(type, Kind::Lhist) || is(type, Kind::Tseries);
}

// A newline in a key or a string would look like the next entry.
static void make_visible(std::string& out, size_t start, const Type& type,
                         const ValueContext& context) {
  if (!context.is_terminal) return;
  bool has_lines = has_own_lines(type) || has_stack(type);
  escape_tail(out, start, has_lines ? LineEnds::Keep : LineEnds::Escape);
}

void append_map(std::string& out, const MapContent& map, const ValueContext& context) {
  bool is_block = has_own_lines(map.value);
  for (const MapEntry& entry : sorted_entries(map)) {
    out += map.name;
    if (map.key) {
      out += '[';
      size_t start = out.size();
      append_key(out, map.key, entry.key, context);
      make_visible(out, start, map.key, context);
      out += ']';
    }
    out += is_block ? ":\n" : ": ";
    size_t start = out.size();
    TextValues(out, context).visit_entry(map, entry.value);
    make_visible(out, start, map.value, context);
    out += '\n';
  }
}

static const char* record_type_name(const Type& value) {
  switch (value->kind) {
    case Kind::Avg:
    case Kind::Stats: return "stats";
    case Kind::Hist:
    case Kind::Lhist: return "hist";
    case Kind::Tseries: return "tseries";
    default: return "map";
  }
}

// JSON readers keep only one of two equal keys. Different keys can have the same text, for example
// ("a,b", "c") and ("a", "b,c"): the second becomes "a,b,c #2". `uses` counts each text.
static void number_equal_key(std::string& out, size_t start,
                             std::unordered_map<std::string, size_t>& uses) {
  std::string key = out.substr(start);
  size_t& n = uses[key];  // references into the table stay valid when it grows
  n++;
  while (n > 1) {
    out.replace(start, out.npos, fmt::format("{} #{}\"", key.substr(0, key.size() - 1), n));
    if (uses.try_emplace(out.substr(start), 1).second) return;
    n++;
  }
}

static void append_json_entries(std::string& out, const MapContent& map,
                                const ValueContext& context) {
  std::unordered_map<std::string, size_t> uses;
  const char* separator = "{";
  for (const MapEntry& entry : sorted_entries(map)) {
    out += separator;
    size_t start = out.size();
    append_json_key(out, map.key, entry.key, context);
    number_equal_key(out, start, uses);
    out += ": ";
    append_json_entry(out, map, entry.value, context);
    separator = ", ";
  }
  out += '}';
}

void append_map_json(std::string& out, const MapContent& map, const ValueContext& context) {
  if (map.entries.empty()) return;
  out.append("{\"type\": \"").append(record_type_name(map.value)).append("\", \"data\": {");
  append_json_string(out, map.name);
  out += ": ";
  if (map.key)
    append_json_entries(out, map, context);
  else
    append_json_entry(out, map, map.entries.front().value, context);
  out += "}}\n";
}

}  // namespace flowtap
