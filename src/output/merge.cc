// Merging parts of aggregations. Entry points: merge_cpus(), merge_value().
//
// A copy of a CPU that never ran the probe is all zero bytes, and every aggregation is laid out
// so that zeros mean "nothing yet". So merging is a fold: start with zeros, add each copy.

#include "output/merge.h"

#include <algorithm>
#include <cstring>

#include "types/layout.h"

namespace flowtap {

static constexpr size_t kIsSetAt = 8;  // Min, Max

// Sums must wrap, not trap: a script may add up addresses.
static void add_words(Bytes copy, std::span<std::byte> merged) {
  for (size_t at = 0; at + 8 <= merged.size(); at += 8)
    store<uint64_t>(merged, at, load<uint64_t>(merged, at) + load<uint64_t>(copy, at));
}

static bool is_less(uint64_t a, uint64_t b, bool is_signed) {
  return is_signed ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
}

static void keep_extreme(const TypeData& type, Bytes copy, std::span<std::byte> merged) {
  if (load<uint64_t>(copy, kIsSetAt) == 0) return;
  uint64_t value = load<uint64_t>(copy);
  uint64_t best = load<uint64_t>(merged);
  bool is_better = type.kind == Kind::Min ? is_less(value, best, type.is_signed)
                                          : is_less(best, value, type.is_signed);
  if (load<uint64_t>(merged, kIsSetAt) == 0 || is_better)
    std::memcpy(merged.data(), copy.data(), 16);
}

// Both buckets are of the same interval and have data.
static void join_bucket(const TypeData& type, Bytes copy, std::span<std::byte> merged) {
  uint64_t value = load<uint64_t>(copy, kTseriesValue);
  uint64_t count = load<uint64_t>(copy, kTseriesCount);
  uint64_t old_value = load<uint64_t>(merged, kTseriesValue);
  uint64_t old_count = load<uint64_t>(merged, kTseriesCount);
  bool is_kept = false;
  switch (type.agg) {
    case TseriesAgg::Sum:
    case TseriesAgg::Avg:
      store(merged, kTseriesValue, old_value + value);
      store(merged, kTseriesCount, old_count + count);
      return;
    case TseriesAgg::Min: is_kept = !is_less(value, old_value, type.is_signed); break;
    case TseriesAgg::Max: is_kept = !is_less(old_value, value, type.is_signed); break;
    case TseriesAgg::Last: is_kept = old_count >= count; break;
  }
  if (is_kept) return;
  store(merged, kTseriesValue, value);
  store(merged, kTseriesCount, count);
}

// A ring that went round leaves old intervals in the copies of CPUs that fell silent.
static void join_series(const TypeData& type, Bytes copy, std::span<std::byte> merged) {
  for (size_t at = 0; at + kTseriesBucketSize <= merged.size(); at += kTseriesBucketSize) {
    Bytes from = copy.subspan(at, kTseriesBucketSize);
    std::span<std::byte> to = merged.subspan(at, kTseriesBucketSize);
    if (load<uint64_t>(from, kTseriesCount) == 0) continue;
    bool is_empty = load<uint64_t>(to, kTseriesCount) == 0;
    uint64_t epoch = load<uint64_t>(from), old_epoch = load<uint64_t>(to);
    if (is_empty || epoch > old_epoch)
      std::memcpy(to.data(), from.data(), kTseriesBucketSize);
    else if (epoch == old_epoch)
      join_bucket(type, from, to);
  }
}

size_t cpu_stride(const Type& type) { return align_up(type->size, 8); }

void merge_value(const Type& type, Bytes copy, std::span<std::byte> merged) {
  CHECK(merged.size() == type->size);
  copy = copy.first(merged.size());
  switch (type->kind) {
    case Kind::Count:
    case Kind::Sum:
    case Kind::Avg:
    case Kind::Stats:
    case Kind::Hist:
    case Kind::Lhist: return add_words(copy, merged);
    case Kind::Min:
    case Kind::Max: return keep_extreme(*type, copy, merged);
    case Kind::Tseries: return join_series(*type, copy, merged);
    default: UNREACHABLE("only aggregations have parts");
  }
}

void merge_cpus(const Type& type, Bytes copies, std::span<std::byte> merged) {
  std::fill(merged.begin(), merged.end(), std::byte{0});
  size_t stride = cpu_stride(type);
  for (size_t at = 0; at + stride <= copies.size(); at += stride)
    merge_value(type, copies.subspan(at), merged);
}

}  // namespace flowtap
