#pragma once
// Values in memory that are compared, searched, measured and joined.

#include "lower/code.h"
#include "lower/lowering.h"
#include "lower/memory.h"

namespace flowtap {

class Strings : private CodeWriter {
 public:
  Strings(const CodeWriter& base, Memory& memory, ExpressionLowering& expressions)
      : CodeWriter(base), memory_(memory), expressions_(expressions) {}
  Operand compare_values(const Value& left, const Value& right);  // 1 when equal
  Operand equal_bytes(const Value& text, const std::string& literal);
  Value lower_strlen(const Expr& arg);
  Value lower_search(const Expr& expr, const std::vector<ExprPtr>& args, bool wants_index);
  Value lower_strncmp(const std::vector<ExprPtr>& args);
  Value lower_memcmp(const std::vector<ExprPtr>& args);
  Address bytes_of(const Expr& expr, uint32_t size);  // readable, zeros after the value's own end
  void lower_str_concat(const std::vector<ExprPtr>& args, Address to, const Type& type);
  void lower_name(const Expr& arg, Fn which, Address to);

 private:
  struct Search {
    Address text;
    uint32_t positions;
    Address wanted;
    uint32_t length;
  };
  void search_here(const Search& in);
  void equal_memory(Address left, Address right, uint32_t size, int32_t different);

  Memory& memory_;
  ExpressionLowering& expressions_;
};

}  // namespace flowtap
