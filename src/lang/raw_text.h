#pragma once
// The parts of a script that are not made of tokens: where they end, and how they divide.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace flowtap {

// Each of these is given the whole text and where the part begins, and answers one past its end.
size_t attach_point_end(std::string_view text, size_t begin);
size_t line_end(std::string_view text, size_t begin);
// Calls with the begin and the end of each line that begins with '#', or with blanks and a '#'.
void each_c_line(std::string_view text, const std::function<void(size_t, size_t)>& visit);
// npos if the definition is never closed.
size_t c_definition_end(std::string_view text, size_t begin);

// Splits an attach point at ':', removing quotes. `uprobe:target@file:line` splits at the '@' too,
// which stays with its part: {"uprobe", "target", "@file", "line"}.
// A '$' outside of quotes and what follows it is given to `parameter`, if there is one: it adds
// the value to its second argument and returns how many characters it has read.
using AttachParameter = std::function<size_t(std::string_view rest, std::string& part)>;
std::vector<std::string> split_attach_point(std::string_view text,
                                            const AttachParameter& parameter = {});

}  // namespace flowtap
