#pragma once
// BtfWriter: small BTF blobs for tests, one call per type. Ids are handed out in order from
// `first_id`, so a test can refer to a type that it adds later.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "types/btf.h"

namespace flowtap {

class BtfWriter {
 public:
  // For split BTF: the base's end_id() and the length of its strings.
  explicit BtfWriter(uint32_t first_id = 1, uint32_t first_string = 0)
      : next_id_(first_id), first_string_(first_string), strings_(first_string ? 0 : 1, '\0') {}

  struct Member {
    std::string_view name;
    uint32_t type;
    uint32_t bit_offset;
    uint32_t bit_size = 0;
  };

  enum Encoding : uint32_t { Unsigned = 0, Signed = 1, Bool = 4 };

  uint32_t add_int(std::string_view name, uint32_t size, Encoding encoding = Unsigned) {
    uint32_t id = add(BtfKind::Int, name, 0, size);
    put(static_cast<uint32_t>(encoding) << 24 | size * 8);
    return id;
  }
  // Ptr, Typedef, Const, Volatile, Restrict, TypeTag, Func, Float (size), Fwd.
  uint32_t add_plain(BtfKind kind, std::string_view name, uint32_t target) {
    return add(kind, name, 0, target);
  }
  uint32_t add_array(uint32_t element, uint32_t count) {
    uint32_t id = add(BtfKind::Array, "", 0, 0);
    for (uint32_t word : {element, 0u, count}) put(word);
    return id;
  }
  uint32_t add_struct(BtfKind kind, std::string_view name, uint32_t size,
                      const std::vector<Member>& members) {
    uint32_t id = add(kind, name, static_cast<uint32_t>(members.size()) | 1u << 31, size);
    for (const Member& member : members) {
      put(string(member.name));
      put(member.type);
      put(member.bit_size << 24 | member.bit_offset);
    }
    return id;
  }
  uint32_t add_proto(uint32_t result, const std::vector<BtfParam>& params) {
    uint32_t id = add(BtfKind::FuncProto, "", static_cast<uint32_t>(params.size()), result);
    for (const BtfParam& param : params) {
      put(string(param.name));
      put(param.type);
    }
    return id;
  }
  uint32_t add_enum(std::string_view name, bool is_signed,
                    const std::vector<BtfEnumerator>& values) {
    uint32_t flag = is_signed ? 1u << 31 : 0;
    uint32_t id = add(BtfKind::Enum, name, static_cast<uint32_t>(values.size()) | flag, 4);
    for (const BtfEnumerator& value : values) {
      put(string(value.name));
      put(static_cast<uint32_t>(value.value));
    }
    return id;
  }
  uint32_t add_enum64(std::string_view name, const std::vector<BtfEnumerator>& values) {
    uint32_t id = add(BtfKind::Enum64, name, static_cast<uint32_t>(values.size()), 8);
    for (const BtfEnumerator& value : values) {
      put(string(value.name));
      put(static_cast<uint32_t>(value.value));
      put(static_cast<uint32_t>(static_cast<uint64_t>(value.value) >> 32));
    }
    return id;
  }

  uint32_t string_size() const { return static_cast<uint32_t>(strings_.size()); }

  std::vector<std::byte> bytes() const {
    uint32_t type_size = static_cast<uint32_t>(types_.size() * 4);
    std::vector<uint32_t> words = {0x0001eb9f, 24, 0, type_size, type_size, string_size()};
    words.insert(words.end(), types_.begin(), types_.end());
    std::vector<std::byte> out(words.size() * 4 + strings_.size());
    std::memcpy(out.data(), words.data(), words.size() * 4);
    if (!strings_.empty())
      std::memcpy(out.data() + words.size() * 4, strings_.data(), strings_.size());
    return out;
  }

 private:
  uint32_t add(BtfKind kind, std::string_view name, uint32_t flags, uint32_t size_or_target) {
    put(string(name));
    put(flags | static_cast<uint32_t>(kind) << 24);
    put(size_or_target);
    return next_id_++;
  }
  void put(uint32_t word) { types_.push_back(word); }
  uint32_t string(std::string_view text) {
    if (text.empty()) return 0;
    uint32_t offset = first_string_ + string_size();
    strings_ += text;
    strings_ += '\0';
    return offset;
  }

  uint32_t next_id_, first_string_;
  std::vector<uint32_t> types_;
  std::string strings_;
};

}  // namespace flowtap
