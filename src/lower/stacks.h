#pragma once
// kstack and ustack: stacks that the kernel walks.

#include "lower/code.h"
#include "lower/frame.h"
#include "lower/memory.h"
#include "lower/record_buffer.h"
#include "lower/tasks.h"

namespace flowtap {

class Stacks : private CodeWriter {
 public:
  struct Uses {
    ProgramFrame& frame;
    Memory& memory;
    Tasks& tasks;
    RecordBuffer& buffer;
  };
  Stacks(const CodeWriter& base, const Instance& instance, const Uses& uses)
      : CodeWriter(base), instance_(instance), uses_(uses) {}
  void lower_stack(const Expr& expr, Address to);

 private:
  const Instance& instance_;
  Uses uses_;
};

}  // namespace flowtap
