#pragma once
// Format pieces and a record -> text.

#include <span>
#include <string>

#include "base/bytes.h"
#include "output/symbolizer.h"
#include "types/format.h"
#include "types/type.h"

namespace flowtap {

// A call of printf or a relative, as its record brought it.
struct FormatCall {
  std::span<const FormatPiece> format;
  std::span<const Field> args;  // offsets count from the start of the record
  Bytes record;
};

void append_printf(std::string& out, const FormatCall& call, const ValueContext& context);

}  // namespace flowtap
