#pragma once
// Probes as BCC's tools write them:
//
//   tcp_sendmsg            a kernel function           c:malloc               one of a library
//   p::tcp_sendmsg         the same, in full           p:c:malloc             the same, in full
//   r::tcp_recvmsg         its return                  r:c:malloc
//   t:block:block_rq_issue an event of the kernel      u:pthread:pthread_start  a marker (USDT)
//
// Functions may have a signature: p::tcp_sendmsg(struct sock *sk, struct msghdr *m, size_t size).

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowtap {

enum class SpecKind : uint8_t { Function, Return, Event, Marker };

struct Parameter {
  std::string type, name;
};

struct ProbeSpec {
  SpecKind kind = SpecKind::Function;
  std::string target;  // library, program or category; empty for kernel functions
  std::string name;    // may hold '*'
  std::vector<Parameter> parameters;
  size_t end = 0;  // where the rest of the text begins

  bool is_kernel_function() const {
    return target.empty() && (kind == SpecKind::Function || kind == SpecKind::Return);
  }
  bool has_glob() const { return name.find('*') != std::string::npos; }
};

Result<ProbeSpec> parse_probe_spec(std::string_view text);

// A mistake in a specification, with a caret below its place.
Error spec_error(std::string_view text, size_t at, std::string message, std::string hint = {});

// The place in `text`, at `from` or behind it, of the first of `wanted` that stands outside of
// parentheses, brackets and quotes; the end when there is none.
size_t find_outside(std::string_view text, std::string_view wanted, size_t from = 0);

// How a script writes it. What BCC calls a marker may also be the name of a user function: the
// second is the way to write that.
std::string attach_point(const ProbeSpec& spec);
std::string attach_point_of_entry(const ProbeSpec& spec);
std::string attach_point_of_return(const ProbeSpec& spec);
std::string attach_point_of_namesake(const ProbeSpec& spec);

// With -r the name is a regular expression: the probe then has '*' in its place, and this filters.
std::string take_regexp(ProbeSpec& spec);

}  // namespace flowtap
