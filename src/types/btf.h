#pragma once
// Btf: the kernel's own description of its types and functions, read in place. The bytes belong
// to the caller (a mapped /sys/kernel/btf/vmlinux, or a test's vector) and must outlive the Btf.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace flowtap {

// The numbers are the kernel's (include/uapi/linux/btf.h).
enum class BtfKind : uint8_t {
  Void,
  Int,
  Ptr,
  Array,
  Struct,
  Union,
  Enum,
  Fwd,
  Typedef,
  Volatile,
  Const,
  Restrict,
  Func,
  FuncProto,
  Var,
  DataSec,
  Float,
  DeclTag,
  TypeTag,
  Enum64,
};

// One type record, decoded. Which of the fields mean something depends on the kind.
struct BtfType {
  BtfKind kind = BtfKind::Void;
  bool kind_flag = false;  // Struct: offsets carry bit sizes; Fwd: a union; Enum: signed
  uint32_t vlen = 0;       // members, parameters, enumerators
  uint32_t size = 0;       // Int, Struct, Union, Enum, Float
  uint32_t target = 0;     // the type referred to: Ptr, Typedef, Const, Func, FuncProto (result)...
  std::string_view name;
  Bytes extra;  // what follows the twelve common bytes
};

struct BtfMember {
  std::string_view name;
  uint32_t type = 0;
  uint32_t bit_offset = 0;
  uint32_t bit_size = 0;  // 0: not a bit field
};

struct BtfParam {
  std::string_view name;
  uint32_t type = 0;
};

struct BtfEnumerator {
  std::string_view name;
  int64_t value = 0;
};

struct BtfInt {
  bool is_signed = false, is_bool = false;
  uint32_t bit_offset = 0, bits = 0;
};

// Types that lie in one struct, unnamed structs within it counted through. The kernel's largest has
// a few hundred; BTF that goes beyond is damaged.
inline constexpr int kMaxBtfParts = 8192;

struct BtfArray {
  uint32_t element = 0;
  uint32_t count = 0;
};

class Btf {
 public:
  // `base` is given for a module, whose ids and strings continue those of vmlinux; it must stay
  // where it is for as long as the module's Btf is used.
  static Result<Btf> parse(Bytes bytes, const Btf* base = nullptr);

  // Ids of this BTF run from first_id() to end_id() - 1; lower ones belong to the base, 0 is void.
  uint32_t first_id() const { return first_id_; }
  // This walks over all types.
  uint32_t end_id() const;

  // Any id is allowed: what does not exist reads as void, so a damaged reference harms nobody.
  BtfType type(uint32_t id) const;

  // Each expects a type of the fitting kind, and gives nothing for another.
  std::vector<BtfMember> members(const BtfType& type) const;
  std::vector<BtfParam> params(const BtfType& type) const;
  std::vector<BtfEnumerator> enumerators(const BtfType& type) const;
  static BtfInt int_info(const BtfType& type);
  static BtfArray array_info(const BtfType& type);

  // The first type of that kind and name among this BTF's own ids (not the base's); 0 for none.
  uint32_t find(std::string_view name, BtfKind kind) const;
  // Names are looked up in an index from the first one on.
  void index_at_once() { finds_without_index_ = 0; }

  struct FoundEnumerator {
    uint32_t enum_id = 0;
    int64_t value = 0;
  };
  std::optional<FoundEnumerator> find_enumerator(std::string_view name) const;

 private:
  Status walk(size_t types) const;
  Status walk_some(size_t count) const;
  bool has(uint32_t id) const;
  struct Names;
  void index(Names& names, BtfKind kind) const;
  uint32_t scan(std::string_view name, BtfKind kind) const;
  std::string_view text(uint32_t offset) const;
  bool is_text(uint32_t offset, std::string_view expected) const;  // without looking for its end
  Bytes record(uint32_t id) const;
  std::optional<FoundEnumerator> enumerator_in(uint32_t id, std::string_view name) const;

  const Btf* base_ = nullptr;
  Bytes types_, strings_;
  uint32_t first_id_ = 1;      // first id of this section
  uint32_t first_string_ = 0;  // offset of the first own string
  // Where own types start in types_, as far as anybody asked, and where the next would.
  mutable std::vector<uint32_t> offsets_ = {0};
  mutable bool is_walked_ = false;
  // The names of one kind: a chained hash table, made when they are asked for often. Links are
  // places in `entries`, plus one; 0 ends.
  struct Names {
    struct Entry {
      uint32_t id, next;
    };
    std::map<std::string, uint32_t, std::less<>> scanned;  // what was found before it was made
    std::vector<uint32_t> buckets;
    std::vector<Entry> entries;
  };
  uint32_t finds_without_index_ = 16;
  mutable std::map<BtfKind, Names> names_;
  mutable std::vector<uint32_t> used_enums_;  // the next constant is often of the same
};

}  // namespace flowtap
