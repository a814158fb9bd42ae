#pragma once
// Expressions as BCC's tools write them, which are C with a few words of their own, become those
// of a script:
//
//   size                 a parameter of the signature   -> arg2
//   sk->__sk_common      likewise, by its type          -> ((struct sock *)arg0)->__sk_common
//   arg1, arg2 ...       arguments counted from one     -> arg0, arg1
//   $retval, retval      what the function returns      -> retval
//   $latency             how long the function ran      -> nsecs - @start[tid]
//   $entry(size)         an argument, kept from entry   -> @entry0[tid]
//   $PID, $COMM, $cpu... of the process and the CPU     -> pid, comm, cpu
//   STRCMP("a", x)       whether a text is equal        -> str(x) == "a"
//   'a', NULL            as in C                        -> 97, 0

#include <string>
#include <string_view>
#include <vector>

#include "generic/probe_spec.h"

namespace flowtap {

struct Expressions {
  explicit Expressions(const ProbeSpec& probe) : spec(probe) {}

  const ProbeSpec& spec;
  std::string retval_type;           // what $retval is cast to; empty for none
  std::vector<std::string> entries;  // what entry must keep, in order
  bool uses_latency = false;

  bool needs_entry() const { return uses_latency || !entries.empty(); }
  // `whole` is the specification that `text` is a part of, for messages.
  Result<std::string> rewrite(std::string_view text, std::string_view whole);

 private:
  class Rewriter;
};

// An expression as a value of a C type: texts by str(), numbers cast where their sign or width
// could differ.
std::string as_type(const std::string& expression, std::string_view type, const ProbeSpec& spec);

bool is_text_type(std::string_view type);

}  // namespace flowtap
