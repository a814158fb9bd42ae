// Stats values in their two forms; the average is made here, from total and count.

#include "output/stats_text.h"

#include "output/json_string.h"
#include "output/scalar.h"

namespace flowtap {

namespace {

struct Stats {
  Scalar count, average, total;
};

}  // namespace

static Stats stats_of(const Type& type, Bytes bytes, uint64_t div) {
  return {.count = {load<uint64_t>(bytes, 8), false},
          .average = divide(*scalar_of(type, bytes), div),
          .total = {load<uint64_t>(bytes), type->is_signed}};
}

void append_stats(std::string& out, const Type& type, Bytes bytes, uint64_t div) {
  Stats stats = stats_of(type, bytes, div);
  out += "{ .count = ";
  append_number(out, stats.count);
  out += ", .average = ";
  append_number(out, stats.average);
  out += ", .total = ";
  append_number(out, stats.total);
  out += " }";
}

void append_stats_json(std::string& out, const Type& type, Bytes bytes, uint64_t div) {
  Stats stats = stats_of(type, bytes, div);
  out += "{\"count\": ";
  append_json_number(out, stats.count);
  out += ", \"average\": ";
  append_json_number(out, stats.average);
  out += ", \"total\": ";
  append_json_number(out, stats.total);
  out += '}';
}

void append_stats_csv(std::string& out, const std::string& entry, const Type& type, Bytes bytes,
                      uint64_t div) {
  Stats stats = stats_of(type, bytes, div);
  out += entry;
  for (const Scalar& number : {stats.count, stats.average, stats.total}) {
    out += ',';
    append_number(out, number);
  }
  out += '\n';
}

}  // namespace flowtap
