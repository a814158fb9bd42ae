#pragma once
// The memory that expressions denote: fields, elements, what pointers lead to, arguments.

#include "lower/code.h"
#include "lower/frame.h"
#include "lower/lowering.h"
#include "lower/memory.h"

namespace flowtap {

class Locations : private CodeWriter {
 public:
  Locations(const CodeWriter& base, const Instance& instance, ProgramFrame& frame, Memory& memory,
            ExpressionLowering& expressions)
      : CodeWriter(base),
        instance_(instance),
        frame_(frame),
        memory_(memory),
        expressions_(expressions) {}
  std::optional<Location> location_of(const Expr& expr);

 private:
  struct Bounded {
    Operand value;
    uint32_t limit;
  };
  std::optional<Location> member_location(const Expr& expr, const Member& node);
  std::optional<Location> index_location(const Expr& expr, const Index& node);
  Reg element_within(const Location& place, const Type& array, const Bounded& index,
                     const std::function<Reg()>& element);
  Location pointed_at(const Expr& pointer);
  std::optional<Location> args_location(const Expr& expr, const Member& node);

  const Instance& instance_;
  ProgramFrame& frame_;
  Memory& memory_;
  ExpressionLowering& expressions_;
};

}  // namespace flowtap
