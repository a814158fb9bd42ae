#pragma once
// Kernel functions that scripts of the last ten years trace, and what answers their question today:
// some are gone, some were inlined, some exist and are no longer called.

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace flowtap {

struct Answer {
  std::string_view probe;  // "tracepoint:skb:kfree_skb"; empty for none
  std::string_view note;   // what to know about it; may be empty
};

struct Replacement {
  std::string_view function;
  std::string_view fate;  // what became of it: "is gone (not in Linux 6.1)"; empty: it is as it was
  // Exists, and sees little or nothing of what it saw: always ("*"), or where this function exists.
  std::string_view off_path_with;
  std::array<Answer, 3> answers;  // the first that the machine has is told
};

std::span<const Replacement> all_replacements();
const Replacement* find_replacement(std::string_view function);  // null when there is none

// Whether the machine has a probe.
using HasProbe = std::function<bool(std::string_view kind, std::string_view rest)>;

// "'tcp_drop' is gone (...): use 'tracepoint:skb:kfree_skb', ..."; empty when nothing can be said.
std::string replacement_hint(std::string_view function, const HasProbe& has_probe);

}  // namespace flowtap
