// Bytes of a map -> what is printed of it: keys and values of the types that the first bytes
// choose.

#include "output/merge.h"
#include "support.h"
#include "three_writers.h"
#include "types/layout.h"

using namespace flowtap;
using namespace flowtap::testing_support;

static const std::vector<Type>& key_types() {
  static const std::vector<Type> types = {
      nullptr,
      int_type(4, false),
      string_type(16),
      tuple_type({string_type(8), int_type(2, true)}),
      tuple_type({tuple_type({bool_type(), string_type(3)}), string_type(4)}),
      record_type({{"a", string_type(5)}, {"b", int_type(8, true)}}),
      buffer_type(8),
      simple_type(Kind::Inet, kInetSize),
      simple_type(Kind::Mac, kMacSize),
      simple_type(Kind::USym, kUSymSize),
      simple_type(Kind::CgroupPath, kCgroupPathSize),
      simple_type(Kind::Timestamp, kTimestampSize),
      stack_type(Kind::KStack, StackMode::Bpftrace, 3, stack_value_size(StackMode::Bpftrace, 3)),
      stack_type(Kind::UStack, StackMode::BuildId, 2, stack_value_size(StackMode::BuildId, 2)),
      stack_type(Kind::UStack, StackMode::Folded, 2, stack_value_size(StackMode::Folded, 2)),
      enum_type("enum e", 4, true, {{"A", 0}, {"B\"", -1}}),
      pointer_type(none_type(), AddressSpace::Kernel),
      array_type(int_type(1, true), 4),
  };
  return types;
}

static const std::vector<Type>& value_types() {
  static const std::vector<Type> types = [] {
    std::vector<Type> made = {aggregation(Kind::Count),
                              aggregation(Kind::Sum),
                              aggregation(Kind::Min),
                              aggregation(Kind::Max, false),
                              aggregation(Kind::Avg),
                              aggregation(Kind::Stats),
                              hist(),
                              hist(2),
                              lhist(-10, 30, 7),
                              lhist(0, 3, 1),
                              tseries(1'000'000, 4, TseriesAgg::Avg),
                              tseries(1'000'000'000, 3, TseriesAgg::Last)};
    made.insert(made.end(), key_types().begin() + 1, key_types().end());
    return made;
  }();
  return types;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  Type key = key_types()[input.u8() % key_types().size()];
  Type value = value_types()[input.u8() % value_types().size()];
  bool is_merged = is_aggregation(value);
  uint64_t top = input.u8() % 8, div = input.u8() % 4 + 1;

  std::vector<std::vector<std::byte>> keys, values;
  do {
    if (key) keys.push_back(input.filled(key->size));
    std::vector<std::byte> bytes = input.filled(is_merged ? 2 * cpu_stride(value) : value->size);
    if (is_merged) {
      std::vector<std::byte> merged(value->size);
      merge_cpus(value, bytes, merged);
      bytes = std::move(merged);
    }
    values.push_back(std::move(bytes));
  } while (key && !input.empty());
  std::vector<MapEntry> entries(values.size());
  for (size_t i = 0; i < values.size(); i++)
    entries[i] = {key ? Bytes(keys[i]) : Bytes(), values[i]};

  const std::string strings[] = {"%H:%M \"%f\"", "a,b\n"};
  fuzz::Written written = fuzz::write_in_all_formats(strings, [&](Writer& writer, ValueContext) {
    writer.map({"@x", key, value, entries, top, div});
  });
  fuzz::check_json_lines(written.json);
  fuzz::check_csv_blocks(written.csv);
  return 0;
}
