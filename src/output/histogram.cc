// Histograms. Ways in: append_histogram(), counted_buckets().
//
//   [2, 4)                 1 |@@@@@@@@@@@@@@@@@                                   |
//   label, 16 wide  count, 8   bar, 52 wide, full for the largest bucket
//
// Rows run from the first to the last bucket that counted something; empty ones between are
// shown, so that the shape is true.

#include "output/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace flowtap {

static constexpr uint32_t kBarWidth = 52;

namespace {

struct FilledRange {
  uint32_t first = 0;
  uint32_t end = 0;  // equal to first: all buckets are empty
  uint64_t largest = 0;
};

}  // namespace

static uint64_t count_at(Bytes bytes, uint32_t bucket) {
  return load<uint64_t>(bytes, bucket * 8ul);
}

static FilledRange filled_range(const Type& type, Bytes bytes) {
  FilledRange filled;
  uint32_t buckets = hist_buckets(*type);
  for (uint32_t i = 0; i < buckets; i++) {
    uint64_t count = count_at(bytes, i);
    if (count == 0) continue;
    if (filled.end == 0) filled.first = i;
    filled.end = i + 1;
    filled.largest = std::max(filled.largest, count);
  }
  return filled;
}

static BucketRange range_of(const Type& type, uint32_t bucket) {
  return type->kind == Kind::Hist ? hist_range(bucket, type->bits) : lhist_range(bucket, *type);
}

static uint64_t divisor(const Type& type, uint64_t div) {
  return type->kind == Kind::Hist ? std::max<uint64_t>(1, div) : 1;
}

// A bound of a log2 histogram is m << shift with m in [2^bits, 2^(bits+1)), and gets one unit for
// every ten bits of shift: 1536 is 3 << 9 with one sub-bit and stays, 2048 is 2 << 10 and is 2K.
static std::string log2_bound(uint64_t value, uint32_t bits) {
  uint32_t width = static_cast<uint32_t>(std::bit_width(value));
  uint32_t unit = width > bits + 1 ? (width - 1 - bits) / 10 : 0;
  std::string text = fmt::format_int(value >> (unit * 10)).str();
  if (unit > 0) text += " KMGTPE"[unit];
  return text;
}

// Linear bounds are shortened only when all of them can be.
static std::string linear_bound(int64_t value, int64_t step) {
  constexpr int64_t kKilo = 1024, kMega = 1024 * 1024;
  if (value == 0 || step % kKilo != 0 || value % kKilo != 0) return fmt::format_int(value).str();
  return value % kMega == 0 ? fmt::format("{}M", value / kMega) : fmt::format("{}K", value / kKilo);
}

static std::string bound(const Type& type, uint64_t value) {
  return type->kind == Kind::Hist ? log2_bound(value, type->bits)
                                  : linear_bound(static_cast<int64_t>(value), type->step);
}

static std::string label_of(const Type& type, const BucketRange& range) {
  uint64_t low = static_cast<uint64_t>(range.low);
  if (range.is_open_low) return fmt::format("(..., {})", bound(type, range.high));
  if (range.is_open_high) return fmt::format("[{}, ...)", bound(type, low));
  if (low + 1 == range.high) return fmt::format("[{}]", bound(type, low));
  return fmt::format("[{}, {})", bound(type, low), bound(type, range.high));
}

void append_histogram(std::string& out, const Type& type, Bytes bytes, uint64_t div) {
  FilledRange filled = filled_range(type, bytes);
  uint64_t by = divisor(type, div), largest = std::max<uint64_t>(1, filled.largest / by);
  for (uint32_t i = filled.first; i < filled.end; i++) {
    uint64_t count = count_at(bytes, i) / by;
    float share = static_cast<float>(count) / static_cast<float>(largest);
    size_t length = std::min(kBarWidth, static_cast<uint32_t>(share * kBarWidth));
    fmt::format_to(std::back_inserter(out), "{:<16}{:>8} |", label_of(type, range_of(type, i)),
                   count);
    out.append(length, '@').append(kBarWidth - length, ' ').append("|\n");
  }
}

std::vector<CountedBucket> counted_buckets(const Type& type, Bytes bytes, uint64_t div) {
  FilledRange filled = filled_range(type, bytes);
  std::vector<CountedBucket> buckets;
  for (uint32_t i = filled.first; i < filled.end; i++) {
    BucketRange range = range_of(type, i);
    bool is_signed = type->kind == Kind::Lhist || range.is_open_low;
    CountedBucket bucket{.count = {count_at(bytes, i) / divisor(type, div), false}};
    if (!range.is_open_low) bucket.min = {static_cast<uint64_t>(range.low), is_signed};
    if (!range.is_open_high) bucket.max = {range.high - 1, is_signed};
    buckets.push_back(bucket);
  }
  return buckets;
}

uint64_t histogram_total(Bytes bytes) {
  uint64_t total = 0;
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) total += load<uint64_t>(bytes, at);
  return total;
}

}  // namespace flowtap
