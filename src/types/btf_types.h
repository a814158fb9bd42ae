#pragma once
// BtfTypes: BTF ids -> the language's types. Structs come without fields until completed.

#include <cstdint>
#include <string_view>

#include "types/btf.h"
#include "types/type.h"

namespace flowtap {

class BtfTypes {
 public:
  // `number` tells the definitions of one BTF from those of another: 0 for vmlinux, and up to
  // kMaxNumber for modules. The Btf must outlive this.
  explicit BtfTypes(const Btf& btf, uint32_t number = 0) : btf_(&btf), number_(number) {}
  static constexpr uint32_t kMaxNumber = 511;

  const Btf& btf() const { return *btf_; }

  // Never null: void, functions and damaged references become none. Pointers point into `space`
  // unless BTF says otherwise.
  Type type(uint32_t id, AddressSpace space = AddressSpace::Kernel) const;

  // "struct sock", "union u", "enum e", a typedef or a plain C integer. Null: no such type here.
  Type find(std::string_view name) const;

  // The struct with its fields; `type` must be one of ours. Its pointers carry the space that the
  // struct itself was found in, or Kernel when it does not say.
  Type complete(const Type& type) const;

  // Which BtfTypes a struct's definition belongs to.
  static uint32_t number_of(const Type& type);
  // Its id there.
  static uint32_t id_of(const Type& type);

 private:
  struct Place;
  Type convert(uint32_t id, AddressSpace space, int depth) const;
  Type convert_pointer(const BtfType& type, AddressSpace space, int depth) const;
  Type convert_array(const BtfType& type, AddressSpace space, int depth) const;
  Type convert_struct(const BtfType& type, uint32_t id, std::string_view alias) const;
  Type convert_enum(const BtfType& type, std::string_view alias) const;
  struct Flat;  // a struct whose unnamed members are being counted through
  void add_members(uint32_t id, const Place& place, Flat& flat) const;
  void add_member(const BtfMember& member, const Place& place, Flat& flat) const;
  uint32_t skip_names(uint32_t id) const;

  const Btf* btf_;
  uint32_t number_;
};

}  // namespace flowtap
