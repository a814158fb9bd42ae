#pragma once
// Addresses of networks: ntop(), macaddr() and in_prefix().

#include "lower/arithmetic.h"
#include "lower/code.h"
#include "lower/lowering.h"
#include "lower/memory.h"
#include "lower/text_reads.h"

namespace flowtap {

class NetAddresses : private CodeWriter {
 public:
  struct Uses {
    Memory& memory;
    Arithmetic& arithmetic;
    TextReads& text_reads;
    ExpressionLowering& expressions;
  };
  NetAddresses(const CodeWriter& base, const Uses& uses) : CodeWriter(base), uses_(uses) {}
  void lower_ntop(const std::vector<ExprPtr>& args, Address to);
  Value lower_in_prefix(const std::vector<ExprPtr>& args);
  void lower_macaddr(const Expr& arg, Address to);

 private:
  Uses uses_;
};

}  // namespace flowtap
