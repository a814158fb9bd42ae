// BTF reader: bytes of /sys/kernel/btf/* -> type records by id and by name.
// Way in: Btf::parse(). A BTF blob is a header, a run of type records, and a run of strings:
//
//   0      2   3   4        8         12        16        20       24
//   | magic|ver|flg| hdr_len| type_off| type_len| str_off | str_len| ...types... | ...strings... |
//
// A record is twelve bytes and then, by kind, some more; it has no number of its own, its id is
// its position. So one pass notes where each record starts, and a second hashes the names. Both
// tables are plain u32 arrays: a kernel has 130 000 types and the whole process few megabytes.
// The first pass goes only as far as somebody asks: what most scripts use stands at the start.
//
// A module's BTF is "split": ids and string offsets below those of its base mean the base's.
//
// Every record that was passed lies inside the section and every string ends in it, so that
// readers need not check again. Types end before a record that is damaged; parse() refuses those
// that are damaged from the start. References are not checked here: type() gives void for them.

#include "types/btf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace flowtap {
namespace {

constexpr uint16_t kMagic = 0xeb9f;
constexpr size_t kHeaderSize = 24;
constexpr size_t kRecordSize = 12;
constexpr size_t kTypesAtOnce = 1024;
constexpr uint32_t kMemberSize = 12, kParamSize = 8, kEnumSize = 8, kEnum64Size = 12;
constexpr uint32_t kSectionSize = 12;  // of a variable in a data section

Error malformed(std::string_view why) { return Error{fmt::format("malformed BTF: {}", why)}; }

// Bytes that follow the common part of a record: so many, and so many for each of `vlen` parts. All
// types of a kernel are walked over at a start, so this is a table and not a function.
struct ExtraSize {
  bool is_known = false;
  uint8_t fixed = 0, each = 0;
};

constexpr std::array<ExtraSize, 32> make_extra_sizes() {
  std::array<ExtraSize, 32> sizes;
  auto set = [&](BtfKind kind, uint8_t fixed, uint8_t each) {
    sizes[static_cast<size_t>(kind)] = {true, fixed, each};
  };
  for (BtfKind kind :
       {BtfKind::Ptr, BtfKind::Fwd, BtfKind::Typedef, BtfKind::Volatile, BtfKind::Const,
        BtfKind::Restrict, BtfKind::Func, BtfKind::Float, BtfKind::TypeTag})
    set(kind, 0, 0);
  for (BtfKind kind : {BtfKind::Int, BtfKind::Var, BtfKind::DeclTag}) set(kind, 4, 0);
  set(BtfKind::Array, 12, 0);
  set(BtfKind::Struct, 0, kMemberSize);
  set(BtfKind::Union, 0, kMemberSize);
  set(BtfKind::Enum, 0, kEnumSize);
  set(BtfKind::Enum64, 0, kEnum64Size);
  set(BtfKind::FuncProto, 0, kParamSize);
  set(BtfKind::DataSec, 0, kSectionSize);
  return sizes;  // Void is not known: id 0 has no record
}
constexpr std::array<ExtraSize, 32> kExtraSizes = make_extra_sizes();

// The second word of a record: vlen in bits 0-15, kind in 24-28, kind_flag in 31.
BtfKind kind_of(uint32_t info) { return static_cast<BtfKind>(info >> 24 & 0x1f); }
uint32_t vlen_of(uint32_t info) { return info & 0xffff; }

bool has_size(BtfKind kind) {
  switch (kind) {
    case BtfKind::Int:
    case BtfKind::Struct:
    case BtfKind::Union:
    case BtfKind::Enum:
    case BtfKind::Enum64:
    case BtfKind::DataSec:
    case BtfKind::Float: return true;
    default: return false;
  }
}

// A section named by the header, if it lies inside the bytes.
std::optional<Bytes> section(Bytes bytes, uint64_t header_size, size_t field) {
  uint64_t offset = header_size + load<uint32_t>(bytes, field);
  uint64_t size = load<uint32_t>(bytes, field + 4);
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.subspan(offset, size);
}

}  // namespace

Result<Btf> Btf::parse(Bytes bytes, const Btf* base) {
  if (bytes.size() < kHeaderSize) return malformed("shorter than its header");
  if (load<uint16_t>(bytes) != kMagic) return malformed("wrong magic or byte order");
  if (load<uint8_t>(bytes, 2) != 1) return malformed("version is not 1");
  uint32_t header_size = load<uint32_t>(bytes, 4);
  std::optional<Bytes> types = section(bytes, header_size, 8);
  std::optional<Bytes> strings = section(bytes, header_size, 16);
  if (header_size < kHeaderSize || !types || !strings) return malformed("a section lies outside");
  if (!strings->empty() && strings->back() != std::byte{0}) return malformed("open last string");

  Btf btf;
  btf.base_ = base;
  btf.types_ = *types;
  btf.strings_ = *strings;
  if (base) {
    btf.first_id_ = base->end_id();
    btf.first_string_ = base->first_string_ + static_cast<uint32_t>(base->strings_.size());
  }
  Status walked = btf.walk(kTypesAtOnce);
  if (!walked) return walked.error();
  return btf;
}

// Goes on until that many types are known, or all.
Status Btf::walk(size_t types) const {
  while (!is_walked_ && offsets_.size() <= types) {
    Status walked = walk_some(std::min(types + 1 - offsets_.size(), kTypesAtOnce));
    if (!walked) return walked.error();
  }
  return Done{};
}

Status Btf::walk_some(size_t count) const {
  size_t known = offsets_.size(), end = known + count;
  size_t offset = offsets_.back();
  offsets_.resize(end);
  for (; known < end; known++) {
    if (types_.size() - offset < kRecordSize) break;
    uint32_t info = load<uint32_t>(types_, offset + 4);
    const ExtraSize& extra = kExtraSizes[info >> 24 & 0x1f];
    size_t next = offset + kRecordSize + extra.fixed + size_t{vlen_of(info)} * extra.each;
    if (!extra.is_known || next > types_.size()) break;
    offset = next;
    offsets_[known] = static_cast<uint32_t>(offset);
  }
  is_walked_ = known < end;
  offsets_.resize(known);
  if (!is_walked_ || offset == types_.size()) return Done{};
  if (types_.size() - offset < kRecordSize) return malformed("truncated type");
  uint32_t kind = load<uint32_t>(types_, offset + 4) >> 24 & 0x1f;
  return malformed(kExtraSizes[kind].is_known ? "truncated type"
                                              : fmt::format("type of unknown kind {}", kind));
}

uint32_t Btf::end_id() const {
  // Kernel records take 40 bytes on average; a wrong guess only costs a reallocation.
  if (!is_walked_) offsets_.reserve(types_.size() / 32 + 2);
  (void)walk(SIZE_MAX);
  return first_id_ + static_cast<uint32_t>(offsets_.size()) - 1;
}

// Whether this is the id of one of our own types.
bool Btf::has(uint32_t id) const {
  if (id < first_id_) return false;
  size_t number = id - first_id_;
  if (number + 1 >= offsets_.size()) (void)walk(number + kTypesAtOnce);
  return number + 1 < offsets_.size();
}

// FNV-1a. `buckets` is a power of two.
static size_t bucket_of(std::string_view name, size_t buckets) {
  uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash & (buckets - 1);
}

// Backwards, so that of two types with one name the first is found first.
void Btf::index(Names& names, BtfKind kind) const {
  for (uint32_t i = end_id() - first_id_; i-- > 0;)
    if (kind_of(load<uint32_t>(types_, offsets_[i] + 4)) == kind)
      names.entries.push_back({first_id_ + i, 0});
  names.buckets.assign(std::bit_ceil(names.entries.size() / 2 + 1), 0);
  for (uint32_t i = 0; i < names.entries.size(); i++) {
    std::string_view name = type(names.entries[i].id).name;
    uint32_t& head = names.buckets[bucket_of(name, names.buckets.size())];
    names.entries[i].next = head;
    head = i + 1;
  }
}

bool Btf::is_text(uint32_t offset, std::string_view expected) const {
  if (base_ && offset < first_string_) return base_->is_text(offset, expected);
  offset -= first_string_;
  if (offset >= strings_.size() || strings_.size() - offset <= expected.size()) return false;
  const char* text = reinterpret_cast<const char*>(strings_.data()) + offset;
  return text[expected.size()] == '\0' && expected == std::string_view(text, expected.size());
}

std::string_view Btf::text(uint32_t offset) const {
  if (base_ && offset < first_string_) return base_->text(offset);
  offset -= first_string_;
  if (offset >= strings_.size()) return {};
  return reinterpret_cast<const char*>(strings_.data()) + offset;
}

Bytes Btf::record(uint32_t id) const {
  if (base_ && id < first_id_) return base_->record(id);
  if (!has(id)) return {};
  uint32_t i = id - first_id_;
  return types_.subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
}

BtfType Btf::type(uint32_t id) const {
  Bytes bytes = record(id);
  if (bytes.empty()) return {};
  uint32_t info = load<uint32_t>(bytes, 4);
  uint32_t size_or_target = load<uint32_t>(bytes, 8);
  BtfType type{.kind = kind_of(info), .kind_flag = (info >> 31) != 0, .vlen = vlen_of(info)};
  type.name = text(load<uint32_t>(bytes));
  type.extra = bytes.subspan(kRecordSize);
  (has_size(type.kind) ? type.size : type.target) = size_or_target;
  return type;
}

std::vector<BtfMember> Btf::members(const BtfType& type) const {
  std::vector<BtfMember> members;
  if (type.kind != BtfKind::Struct && type.kind != BtfKind::Union) return members;
  members.reserve(type.vlen);
  for (uint32_t i = 0; i < type.vlen; i++) {
    size_t at = size_t{i} * kMemberSize;
    uint32_t offset = load<uint32_t>(type.extra, at + 8);
    BtfMember member{.name = text(load<uint32_t>(type.extra, at)),
                     .type = load<uint32_t>(type.extra, at + 4),
                     .bit_offset = offset};
    if (type.kind_flag) {
      member.bit_size = offset >> 24;
      member.bit_offset = offset & 0xffffff;
    }
    members.push_back(member);
  }
  return members;
}

std::vector<BtfParam> Btf::params(const BtfType& type) const {
  std::vector<BtfParam> params;
  if (type.kind != BtfKind::FuncProto) return params;
  params.reserve(type.vlen);
  for (uint32_t i = 0; i < type.vlen; i++) {
    size_t at = size_t{i} * kParamSize;
    params.push_back({text(load<uint32_t>(type.extra, at)), load<uint32_t>(type.extra, at + 4)});
  }
  return params;
}

static int64_t enum_value(const BtfType& type, uint32_t i) {
  if (type.kind == BtfKind::Enum64) return load<int64_t>(type.extra, size_t{i} * kEnum64Size + 4);
  size_t at = size_t{i} * kEnumSize + 4;
  return type.kind_flag ? load<int32_t>(type.extra, at) : int64_t{load<uint32_t>(type.extra, at)};
}

static uint32_t enumerator_name(const BtfType& type, uint32_t i) {
  return load<uint32_t>(type.extra,
                        size_t{i} * (type.kind == BtfKind::Enum64 ? kEnum64Size : kEnumSize));
}

static bool is_enum(const BtfType& type) {
  return type.kind == BtfKind::Enum || type.kind == BtfKind::Enum64;
}

std::vector<BtfEnumerator> Btf::enumerators(const BtfType& type) const {
  std::vector<BtfEnumerator> values;
  if (!is_enum(type)) return values;
  values.reserve(type.vlen);
  for (uint32_t i = 0; i < type.vlen; i++)
    values.push_back({text(enumerator_name(type, i)), enum_value(type, i)});
  return values;
}

// The word after an Int: bits in 0-7, bit offset in 16-23, then signed = 1, char = 2, bool = 4.
BtfInt Btf::int_info(const BtfType& type) {
  if (type.kind != BtfKind::Int) return {};
  uint32_t word = load<uint32_t>(type.extra);
  return {.is_signed = (word >> 24 & 1) != 0,
          .is_bool = (word >> 24 & 4) != 0,
          .bit_offset = word >> 16 & 0xff,
          .bits = word & 0xff};
}

BtfArray Btf::array_info(const BtfType& type) {
  if (type.kind != BtfKind::Array) return {};
  return {.element = load<uint32_t>(type.extra), .count = load<uint32_t>(type.extra, 8)};
}

// A short script asks for one or two names, for which a table of all costs more than a look at all.
uint32_t Btf::find(std::string_view name, BtfKind kind) const {
  if (name.empty()) return 0;
  Names& names = names_[kind];
  if (auto known = names.scanned.find(name); known != names.scanned.end()) return known->second;
  if (names.scanned.size() < finds_without_index_)
    return names.scanned[std::string(name)] = scan(name, kind);
  if (names.buckets.empty()) index(names, kind);
  uint32_t link = names.buckets[bucket_of(name, names.buckets.size())];
  for (; link != 0; link = names.entries[link - 1].next) {
    uint32_t id = names.entries[link - 1].id;
    if (is_text(load<uint32_t>(types_, offsets_[id - first_id_]), name)) return id;
  }
  return 0;
}

uint32_t Btf::scan(std::string_view name, BtfKind kind) const {
  for (uint32_t id = first_id_; has(id);) {
    uint32_t end = first_id_ + static_cast<uint32_t>(offsets_.size()) - 1;  // of those known by now
    for (; id < end; id++) {
      uint32_t offset = offsets_[id - first_id_];
      if (kind_of(load<uint32_t>(types_, offset + 4)) == kind &&
          is_text(load<uint32_t>(types_, offset), name))
        return id;
    }
  }
  return 0;
}

std::optional<Btf::FoundEnumerator> Btf::enumerator_in(uint32_t id, std::string_view name) const {
  BtfType candidate = type(id);
  for (uint32_t i = 0; i < candidate.vlen; i++)
    if (is_text(enumerator_name(candidate, i), name))
      return FoundEnumerator{id, enum_value(candidate, i)};
  return std::nullopt;
}

std::optional<Btf::FoundEnumerator> Btf::find_enumerator(std::string_view name) const {
  for (uint32_t id : used_enums_)
    if (std::optional<FoundEnumerator> found = enumerator_in(id, name)) return found;
  for (uint32_t id = first_id_; has(id); id++) {
    BtfKind kind = kind_of(load<uint32_t>(types_, offsets_[id - first_id_] + 4));
    if (kind != BtfKind::Enum && kind != BtfKind::Enum64) continue;
    std::optional<FoundEnumerator> found = enumerator_in(id, name);
    if (!found) continue;
    used_enums_.push_back(id);
    return found;
  }
  return std::nullopt;
}

}  // namespace flowtap
