#pragma once
// Values as text: what print() shows and %s inserts.

#include <string>

#include "base/bytes.h"
#include "output/symbolizer.h"
#include "types/type.h"

namespace flowtap {

// Compact leaves out the blanks that are there for the eye; keys of JSON objects use it. Text
// that came from the traced system keeps its own blanks, or two keys could become one.
enum class TextStyle : uint8_t { Plain, Compact };

void append_text(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                 TextStyle style = TextStyle::Plain);

// A map key: the outer parentheses of a tuple are dropped.
void append_key(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                TextStyle style = TextStyle::Plain);

enum class BufferStyle : uint8_t { Printable, Escaped, Hex };  // a\x0a, \x61\x0a, 61 0a
void append_buffer(std::string& out, Bytes payload, BufferStyle style);

}  // namespace flowtap
