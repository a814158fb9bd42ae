#pragma once
// Sends records that hold values of expressions.

#include "lower/code.h"
#include "lower/context.h"
#include "lower/lowering.h"
#include "lower/memory.h"
#include "lower/record_buffer.h"
#include "lower/text_reads.h"

namespace flowtap {

class EventRecords : private CodeWriter {
 public:
  struct Uses {
    Memory& memory;
    RecordBuffer& buffer;
    ProbeContext& context;
    TextReads& text_reads;
    ExpressionLowering& expressions;
  };
  EventRecords(const CodeWriter& base, const Instance& instance, const Uses& uses)
      : CodeWriter(base), instance_(instance), uses_(uses) {}
  // Sends one record whose fields are the given expressions.
  void send(Event event, const std::vector<const Expr*>& fields, bool wake = false);

 private:
  void note_lost(const Event& event);
  bool can_build_in_place(const Expr& expr) const;
  Type args_with_texts(const Expr& expr) const;
  Value lower_args_with_texts(const Expr& expr, const Type& type);

  const Instance& instance_;
  Uses uses_;
};

}  // namespace flowtap
