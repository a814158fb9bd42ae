#pragma once
// Room for records on the ring buffer, and the record that tells user space of a process.

#include "lower/code.h"
#include "lower/frame.h"
#include "lower/memory.h"

namespace flowtap {

class RecordBuffer : private CodeWriter {
 public:
  RecordBuffer(const CodeWriter& base, const Instance& instance, ProgramFrame& frame,
               Memory& memory)
      : CodeWriter(base), instance_(instance), frame_(frame), memory_(memory) {}
  Reg reserve(uint32_t size);
  void note_process(Operand pid);

 private:
  const Instance& instance_;
  ProgramFrame& frame_;
  Memory& memory_;
};

}  // namespace flowtap
