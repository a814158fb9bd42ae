#pragma once
// For the tests of this folder: bytes written as a list of values, and a machine in which
// everything has a known name.

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "output/symbolizer.h"

namespace flowtap::testing_support {

// BytesOf().u32(4).u64(0x1000).text("ab", 8): fields one after the other, without padding.
class BytesOf {
 public:
  BytesOf& u8(uint8_t v) { return put(v); }
  BytesOf& u16(uint16_t v) { return put(v); }
  BytesOf& u32(uint32_t v) { return put(v); }
  BytesOf& u64(uint64_t v) { return put(v); }
  BytesOf& s64(int64_t v) { return put(v); }
  BytesOf& pad(size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }
  // The text in `size` bytes, zero filled.
  BytesOf& text(std::string_view text, size_t size) {
    size_t at = bytes_.size();
    bytes_.resize(at + size);
    if (!text.empty()) std::memcpy(bytes_.data() + at, text.data(), std::min(size, text.size()));
    return *this;
  }

  operator Bytes() const { return bytes_; }
  const std::vector<std::byte>& vector() const { return bytes_; }

 private:
  template <typename T>
  BytesOf& put(T value) {
    size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }

  std::vector<std::byte> bytes_;
};

// Kernel symbols at 0xff00.., user symbols at 0x1000.. of process 7, user 0, and clocks whose
// zero is 2026-11-15 04:23:20 UTC.
class FakeSymbolizer : public Symbolizer {
 public:
  static constexpr uint64_t kStart = 1794716600ull * 1'000'000'000;

  std::optional<Symbol> kernel_symbol(uint64_t address) override {
    if (address >= 0xff00 && address < 0xff80) return Symbol{"vfs_read", address - 0xff00, ""};
    if (address >= 0xff80 && address < 0xffff) return Symbol{"ext4_sync", address - 0xff80, "ext4"};
    return std::nullopt;
  }
  std::optional<Symbol> user_symbol(uint32_t pid, uint64_t address) override {
    if (pid != 7 || address < 0x1000 || address >= 0x2000) return std::nullopt;
    return Symbol{"main", address - 0x1000, "/bin/app"};
  }
  std::string user_name(uint64_t uid) override { return uid == 0 ? "root" : ""; }
  std::string cgroup_path(uint64_t id, std::string_view filter) override {
    return "unified:/" + std::to_string(id) + "?" + std::string(filter);
  }
  uint64_t unix_time(uint64_t ns, Clock) override { return kStart + ns; }
};

inline Type type_of(TypeData data) { return std::make_shared<const TypeData>(std::move(data)); }
inline Type aggregation(Kind kind, bool is_signed = true) {
  return simple_type(kind, aggregation_size({.kind = kind}), is_signed);
}
inline Type hist(uint32_t bits = 0) {
  TypeData data{.kind = Kind::Hist};
  data.bits = bits;
  data.size = aggregation_size(data);
  return type_of(std::move(data));
}
inline Type lhist(int64_t min, int64_t max, int64_t step) {
  TypeData data{.kind = Kind::Lhist};
  data.min = min;
  data.max = max;
  data.step = step;
  data.size = aggregation_size(data);
  return type_of(std::move(data));
}
inline Type tseries(int64_t interval, uint32_t intervals, TseriesAgg agg) {
  TypeData data{.kind = Kind::Tseries, .is_signed = true};
  data.interval = interval;
  data.intervals = intervals;
  data.agg = agg;
  data.size = aggregation_size(data);
  return type_of(std::move(data));
}
// A struct as BTF would give it: fields where the caller says.
inline Type struct_of(uint32_t size, std::vector<Field> fields) {
  TypeData data{.kind = Kind::Struct, .is_complete = true, .size = size, .name = "struct s"};
  data.fields = std::move(fields);
  return type_of(std::move(data));
}

// A histogram's buckets from the values that were counted.
inline std::vector<std::byte> counted(const Type& type, const std::vector<int64_t>& values) {
  std::vector<std::byte> bytes(type->size);
  for (int64_t value : values) {
    uint32_t bucket = 0;
    if (type->kind == Kind::Hist)
      bucket = hist_bucket(value, type->bits);
    else if (value >= type->max)
      bucket = hist_buckets(*type) - 1;
    else if (value >= type->min)
      bucket = static_cast<uint32_t>((value - type->min) / type->step) + 1;
    store<uint64_t>(bytes, bucket * 8, load<uint64_t>(bytes, bucket * 8) + 1);
  }
  return bytes;
}

}  // namespace flowtap::testing_support
