#pragma once
// str() and buf(): strings and bytes that are read from memory, with or without a length.

#include "lower/code.h"
#include "lower/locations.h"
#include "lower/lowering.h"
#include "lower/memory.h"

namespace flowtap {

class TextReads : private CodeWriter {
 public:
  TextReads(const CodeWriter& base, const Instance& instance, Memory& memory, Locations& locations,
            ExpressionLowering& expressions)
      : CodeWriter(base),
        instance_(instance),
        memory_(memory),
        locations_(locations),
        expressions_(expressions) {}
  Reg read_string(Address to, uint32_t size, Operand length, Operand from, AddressSpace space);
  void lower_str(const Expr& expr, const std::vector<ExprPtr>& args, Address to, const Type& type);
  Location bytes_behind(const Expr& expr);
  void lower_buf(const Expr& expr, const std::vector<ExprPtr>& args, Address to, const Type& type);

 private:
  struct Length {
    Operand operand;
    Type type;
    bool is_limited = false;  // by us: what is beyond the limit is lost
  };
  struct ByLength {
    int32_t none, within, beyond;  // blocks
  };
  void read_cut_string(Address to, Operand size, Operand from, AddressSpace space);
  void copy_start(Address from, const Expr& length, Address to, const Type& type, uint32_t size);
  void branch_by_length(const Length& length, uint32_t limit, const ByLength& places);
  Reg bounded_length(const Length& length, uint32_t most);
  AddressSpace space_behind(const Expr& address) const;

  const Instance& instance_;
  Memory& memory_;
  Locations& locations_;
  ExpressionLowering& expressions_;
};

}  // namespace flowtap
