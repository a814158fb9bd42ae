#pragma once
// Stacks and single symbols as text.

#include <string>

#include "base/bytes.h"
#include "output/symbolizer.h"
#include "types/type.h"

namespace flowtap {

// Itself or somewhere in it: the value takes several lines.
bool has_stack(const Type& type);

enum class StackIndent : uint8_t { Frames, None };

// A newline, then one line per frame, innermost first, in the mode of the type. Folded stacks have
// neither: they are part of a line.
void append_stack(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                  StackIndent indent = StackIndent::Frames);

// KSym and USym: the bare name, or the address when nothing is known about it.
void append_symbol(std::string& out, const Type& type, Bytes bytes, const ValueContext& context);

}  // namespace flowtap
