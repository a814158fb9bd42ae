#pragma once
// The `format` file of a tracepoint -> TracepointFormat.

#include <string_view>

#include "base/result.h"
#include "target/target.h"
#include "target/type_text.h"

namespace flowtap {

Result<TracepointFormat> parse_tracepoint_format(std::string_view text, const FindType& find);

}  // namespace flowtap
