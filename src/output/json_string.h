#pragma once
// The two leaves of JSON that need care: strings and numbers.

#include <cstdint>
#include <string>
#include <string_view>

#include "output/scalar.h"

namespace flowtap {

// With quotes.
void append_json_string(std::string& out, std::string_view text);

// Makes a JSON string of everything in `out` from `start` on, so that text can be formatted in
// place first: most of it needs no escape and is not copied.
void quote_tail(std::string& out, size_t start);

// Readers keep numbers as doubles; an integer that would lose digits there is quoted instead.
void append_json_number(std::string& out, Scalar number);

}  // namespace flowtap
