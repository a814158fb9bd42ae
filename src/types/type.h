#pragma once
// The types of the language, as immutable values. A Type is a shared handle: copying is cheap,
// comparing is by content. Kernel structs are lazy: a Struct type names its definition, and its
// fields are there only once a Target has completed it (task_struct reaches half the kernel).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flowtap {

enum class Kind : uint8_t {
  Unknown,  // not inferred yet, or an error was already reported
  None,     // ()
  Bool,
  Int,
  Enum,
  String,  // size bytes including the NUL
  Buffer,  // u32 length, then up to size - 4 bytes
  Pointer,
  Array,
  Struct,  // struct or union of the kernel or of the script
  Tuple,   // (a, b) with fields named "0", "1"...
  Record,  // (x = a, y = b)
  // Values that user space turns into text.
  KStack,
  UStack,
  KSym,
  USym,
  Username,
  Inet,
  Mac,
  CgroupPath,
  Timestamp,
  // Aggregations: what a map holds, not what an expression can be stored as.
  Count,
  Sum,
  Min,
  Max,
  Avg,
  Stats,
  Hist,
  Lhist,
  Tseries,
};

enum class AddressSpace : uint8_t {
  None,  // not known: a number that was cast in a probe without a context
  Kernel,
  User,
  Bpf,      // memory the program may touch directly: &$x, &@m
  Context,  // the program's own context (args, ctx)
};

enum class StackMode : uint8_t { Bpftrace, Perf, Raw, BuildId, Folded };
enum class TseriesAgg : uint8_t { Last, Avg, Max, Min, Sum };

struct TypeData;
using Type = std::shared_ptr<const TypeData>;

struct Field {
  std::string name;
  Type type;
  uint32_t offset = 0;       // bytes
  uint8_t bit_offset = 0;    // within the bytes at `offset`, for bit fields
  uint8_t bit_size = 0;      // 0: not a bit field
  bool is_data_loc = false;  // tracepoint __data_loc: a u32 (length << 16 | offset) into the record
  bool is_rel_loc = false;   // with is_data_loc: that offset counts from the end of the u32 itself
};

struct Enumerator {
  std::string name;
  int64_t value = 0;
};

struct TypeData {
  Kind kind = Kind::Unknown;
  bool is_signed = false;  // Int, Enum; Sum, Min, Max, Avg, Stats
  // Pointer; Array, Struct and String: where it was read, which is where its pointers lead.
  AddressSpace space = AddressSpace::None;
  bool is_union = false;      // Struct
  bool is_complete = false;   // Struct: fields are filled in
  uint32_t size = 0;          // bytes the value occupies in a record, key or map value
  uint32_t count = 0;         // Array: number of elements
  uint32_t alignment = 0;     // in C, when the parts do not show it; 0: theirs
  std::string name;           // Struct: "struct sock"; Enum: "enum x"; typedefs of ints keep none
  Type element;               // Pointer, Array
  std::vector<Field> fields;  // Tuple, Record, completed Struct (anonymous members flattened)
  std::shared_ptr<const std::vector<Enumerator>> enumerators;  // Enum
  int32_t definition = -1;     // Struct: the Target's own number for the definition
  bool is_char_array = false;  // String: of C; one without a NUL is whole, not cut
  bool is_percpu = false;      // Pointer: an offset into each CPU's area, not an address

  // Parameters of stacks and aggregations.
  StackMode stack_mode = StackMode::Bpftrace;
  uint32_t stack_limit = 0;
  uint32_t bits = 0;                   // Hist
  int64_t min = 0, max = 0, step = 0;  // Lhist
  int64_t interval = 0;                // Tseries: nanoseconds
  uint32_t intervals = 0;              // Tseries: how many are kept
  TseriesAgg agg = TseriesAgg::Last;   // Tseries
};

// --- making types ---------------------------------------------------------------------------
Type unknown_type();
Type none_type();
Type bool_type();
Type int_type(uint32_t bytes, bool is_signed);
Type enum_type(std::string name, uint32_t bytes, bool is_signed, std::vector<Enumerator> values);
Type string_type(uint32_t bytes);
Type char_array_type(uint32_t bytes);                 // what reading a char array gives
Type found_in(AddressSpace space, const Type& type);  // an array or struct that was read there
Type buffer_type(uint32_t payload_bytes);
Type pointer_type(Type element, AddressSpace space);
Type array_type(Type element, uint32_t count);
Type struct_type(std::string name, uint32_t size, bool is_union, int32_t definition);
// Lays the fields out in order with natural alignment.
Type tuple_type(std::vector<Type> elements);
Type record_type(std::vector<std::pair<std::string, Type>> elements);
Type simple_type(Kind kind, uint32_t size, bool is_signed = false);
Type stack_type(Kind kind, StackMode mode, uint32_t limit, uint32_t size);

// --- asking about types ---------------------------------------------------------------------
bool same_type(const Type& a, const Type& b);
// As scripts and messages write it: "uint64", "string[16]", "struct sock *", "(int64,string[3])".
std::string type_name(const Type& type);

uint32_t alignment_of(const Type& type);
const Field* find_field(const Type& type, std::string_view name);

inline bool is(const Type& type, Kind kind) { return type->kind == kind; }
inline bool is_integer(const Type& type) {
  return is(type, Kind::Int) || is(type, Kind::Bool) || is(type, Kind::Enum);
}
inline bool is_aggregation(const Type& type) { return type->kind >= Kind::Count; }
// Fits a register: everything else lives in memory and is handled by address.
inline bool is_scalar(const Type& type) { return is_integer(type) || is(type, Kind::Pointer); }
// The value a register holds must be extended by sign.
inline bool is_signed(const Type& type) { return type->is_signed; }

// --- layouts of aggregation values (one copy per CPU; user space merges them) -----------------
//   Count:        u64 n
//   Sum:          s64 total
//   Min, Max:     u64 value, u64 is_set
//   Avg, Stats:   s64 total, u64 count
//   Hist, Lhist:  u64 buckets[hist_buckets()]
//   Tseries:      per bucket { u64 epoch; s64 value; u64 count }, see layout.h
uint32_t hist_buckets(const TypeData& type);
inline constexpr uint32_t kTseriesBucketSize = 24;  // u64 epoch, s64 value, u64 count (0: empty)

// Log2 histogram of `bits` sub-bits. Bucket 0 is negative values; for bits = 0 bucket 1 is 0 and
// bucket 2 + n is [2^n, 2^(n+1)). For bits = k, values below 2^(k+1) have a bucket of their own
// and each power of two above is split into 2^k buckets.
struct BucketRange {
  int64_t low = 0;    // first value; meaningless when is_open_low
  uint64_t high = 0;  // one past the last value; meaningless when is_open_high
  bool is_open_low = false;
  bool is_open_high = false;
};
uint32_t hist_bucket(uint64_t value, uint32_t bits, bool is_signed = true);
BucketRange hist_range(uint32_t bucket, uint32_t bits);
BucketRange lhist_range(uint32_t bucket, const TypeData& type);

}  // namespace flowtap
