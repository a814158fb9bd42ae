#pragma once
// Temporary memory, and reading, copying and zeroing: kernel and user memory through helpers that
// cannot fault; memory that the verifier knows (stack, scratch, map values, records) directly.

#include "lower/code.h"

namespace flowtap {

class Memory : private CodeWriter {
 public:
  Memory(const CodeWriter& base, ProgramType type) : CodeWriter(base), type_(type) {}

  // Slots for temporary values, free again when their statement is over.
  struct Temporary {
    int32_t slot;
    int32_t function;
    bool is_used;
  };
  using Temporaries = std::vector<Temporary>;
  Address temp(uint32_t size);
  Address stack_temp(uint32_t size);  // on the stack, for a callback's context
  const Temporaries& temporaries() const { return temps_; }
  void free_since(const Temporaries& before);

  void check_read(Reg result, int64_t helper);
  int64_t read_helper(AddressSpace space, bool is_string) const;
  void by_space(AddressSpace space, Operand address,
                const std::function<void(AddressSpace)>& access);
  void read_bytes(Address to, uint32_t size, const Location& from);
  Operand read_scalar(const Location& from);
  Operand narrow(Operand value, const Type& type);
  Value read(const Location& location);
  // Visits `size` bytes at all places in steps that are aligned at each: (offset, bytes).
  void in_steps(std::initializer_list<Address> places, uint32_t size,
                const std::function<void(uint32_t, uint32_t)>& visit);
  void copy(Address to, Address from, uint32_t size);
  void zero(Address to, uint32_t size);
  void store(const Value& value, Address to, const Type& type);
  // The same where it is wanted.
  void read_into(Address to, uint32_t size, const Location& from);
  // Clears what follows the first NUL.
  void end_text(Address text, uint32_t size);
  void store_text(Address to, uint32_t size, const std::string& text);
  Value text_value(const std::string& text);
  Operand as_number(Operand pointer);
  Location kernel_field(Operand object, const char* type_name,
                        std::initializer_list<const char*> path);

 private:
  std::optional<Operand> read_typed(const Location& from, uint32_t size);
  Operand read_word(const Location& from, uint32_t size);
  Operand read_bits(const Location& from);
  Operand read_crooked_bits(const Location& from, uint32_t touched);
  bool can_copy_by_helper() const;
  void store_fields(const Value& value, Address to, const Type& type);

  ProgramType type_;
  Temporaries temps_;
};

}  // namespace flowtap
