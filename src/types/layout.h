#pragma once
// The bytes of values that user space turns into text. The code generator stores them in records,
// map keys and map values; src/output reads them back. Everything is little endian.
//
//   Bool       | u8 |
//   Int, Enum  | 1, 2, 4 or 8 bytes |
//   Pointer    | u64 |
//   String     | bytes, a NUL, whatever | no NUL within its size: the text was cut
//   Buffer     | u32 length | bytes ... |
//   Array      elements without gaps
//   Struct, Tuple, Record: fields at their offsets
//
//              0            4            8
//   KStack,    | u32 frames | u32 pid    | u64 address, innermost first ... |
//   UStack     with StackMode::BuildId each frame is the kernel's struct bpf_stack_build_id:
//                           | s32 status | u8 build_id[20] | u64 offset in the file, or address |
//   KSym       | u64 address             |
//   USym       | u64 address             | u32 pid    | u32 name |  1 + index of the name in
//              Image::strings when the compiler knows it, else 0
//   Username   | u64 uid                 |
//   Inet       | u32 4 or 16| u32 0      | 16 bytes in network order |
//   Mac        | 6 bytes |
//   CgroupPath | u64 id                  | u64 index of the filter in Image::strings |
//   Timestamp  | u64 ns                  | u32 Clock  | u32 index of the format in Image::strings |
//
// Aggregations are drawn in type.h, except for the time series, which is
//   Tseries    per bucket | u64 epoch | s64 value | u64 count |
// where epoch is time / interval, the bucket's place is epoch % buckets, and count 0 means empty.
// For TseriesAgg::Avg value is the total; for Last count is the time of the write, so that the
// newest CPU wins.

#include <cstdint>

#include "types/type.h"

namespace flowtap {

inline constexpr uint32_t kBufferHeader = 4;

inline constexpr uint32_t kStackPid = 4;
inline constexpr uint32_t kStackHeader = 8;
inline constexpr uint32_t kStackFrameSize = 8;
inline constexpr uint32_t kBuildIdFrameSize = 32;
inline constexpr uint32_t kBuildIdAt = 4;
inline constexpr uint32_t kBuildIdLength = 20;
inline constexpr uint32_t kBuildIdOffsetAt = 24;

inline constexpr uint32_t kUSymPid = 8;
inline constexpr uint32_t kUSymName = 12;
inline constexpr uint32_t kUSymSize = 16;
inline constexpr uint32_t kInetAddress = 8;
inline constexpr uint32_t kInetSize = 24;
inline constexpr uint32_t kMacSize = 6;
inline constexpr uint32_t kCgroupPathFilter = 8;
inline constexpr uint32_t kCgroupPathSize = 16;
inline constexpr uint32_t kTimestampClock = 8;
inline constexpr uint32_t kTimestampFormat = 12;
inline constexpr uint32_t kTimestampSize = 16;

// What a stamp counts from; the numbers are stored in Timestamp values.
enum class Clock : uint32_t { Boot, Monotonic, Tai, SwTai };

inline constexpr Clock kTseriesClock = Clock::SwTai;  // so that whole seconds begin intervals
inline constexpr uint32_t kTseriesValue = 8;
inline constexpr uint32_t kTseriesCount = 16;

inline uint32_t stack_value_size(StackMode mode, uint32_t limit) {
  return kStackHeader + limit * (mode == StackMode::BuildId ? kBuildIdFrameSize : kStackFrameSize);
}

// Bytes of one CPU's copy of an aggregation.
inline uint32_t aggregation_size(const TypeData& type) {
  switch (type.kind) {
    case Kind::Count:
    case Kind::Sum: return 8;
    case Kind::Hist:
    case Kind::Lhist: return hist_buckets(type) * 8;
    case Kind::Tseries: return type.intervals * kTseriesBucketSize;
    default: return 16;
  }
}

}  // namespace flowtap
