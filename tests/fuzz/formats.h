#pragma once
// Judges of our own output, written against the standards and not against our writers.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flowtap::fuzz {

// A whole JSON text after RFC 8259, in valid UTF-8.
bool is_json(std::string_view text);

// The records of a CSV text after RFC 4180, whose lines may end with a newline alone. Nothing when
// it is not valid. A line without any byte is a record without cells.
std::optional<std::vector<std::vector<std::string>>> read_csv(std::string_view text);

}  // namespace flowtap::fuzz
