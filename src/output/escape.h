#pragma once
// Names of processes, files and hosts are chosen by whoever runs there, and may hold anything: a
// terminal must show them, not obey them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace flowtap {

// The length of the UTF-8 character that the text begins with; 0 when that is none. The text is
// not empty.
size_t utf8_length(std::string_view text);

// U+0080 to U+009F: terminals take some of them for the beginning of a command.
bool is_c1_control(std::string_view text);

enum class LineEnds : uint8_t { Escape, Keep };  // Keep: tabs too

// Makes what is in `out` from `start` on visible: control characters, and bytes that are not UTF-8,
// become "\x1b" and so on.
void escape_tail(std::string& out, size_t start, LineEnds line_ends);

}  // namespace flowtap
