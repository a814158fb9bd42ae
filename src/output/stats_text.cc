// Stats values; the average is made here, from total and count.

#include "output/stats_text.h"

namespace flowtap {

StatsNumbers stats_of(const Type& type, Bytes bytes, uint64_t div) {
  return {.count = {load<uint64_t>(bytes, 8), false},
          .average = divide(*scalar_of(type, bytes), div),
          .total = {load<uint64_t>(bytes), type->is_signed}};
}

void append_stats(std::string& out, const Type& type, Bytes bytes, uint64_t div) {
  StatsNumbers stats = stats_of(type, bytes, div);
  out += "{ .count = ";
  append_number(out, stats.count);
  out += ", .average = ";
  append_number(out, stats.average);
  out += ", .total = ";
  append_number(out, stats.total);
  out += " }";
}

}  // namespace flowtap
