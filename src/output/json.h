#pragma once
// Values as JSON.

#include <string>

#include "base/bytes.h"
#include "output/symbolizer.h"
#include "types/type.h"

namespace flowtap {

void append_json(std::string& out, const Type& type, Bytes bytes, const ValueContext& context);

// The name of an object's member: the value's compact text, quoted.
void append_json_key(std::string& out, const Type& type, Bytes bytes, const ValueContext& context);

}  // namespace flowtap
