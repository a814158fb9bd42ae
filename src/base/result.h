#pragma once
// Result<T>: a value, or the reason why the world said no. Mistakes in a script are reported
// through Diagnostics instead; this is for files, system calls and the kernel.

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace flowtap {

// 524 has no text outside of the kernel.
inline constexpr int kNotSupportedByKernel = 524;  // ENOTSUPP
inline std::string errno_text(int code) {
  return code == kNotSupportedByKernel ? "the kernel does not support this (ENOTSUPP)"
                                       : std::strerror(code);
}

struct Error {
  std::string what;  // what was tried, on what: "cannot open 'x.bt'"
  int code = 0;      // errno, or 0 when no system call failed
  std::string hint;  // what to do about it, if something would help

  // "what: reason", the form that is shown after "error: ".
  std::string message() const { return code ? what + ": " + errno_text(code) : what; }
};

// An Error made from the errno of the call that just failed.
inline Error errno_error(std::string what, std::string hint = {}) {
  return Error{std::move(what), errno, std::move(hint)};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(state_); }

  T& operator*() {
    CHECK(*this);
    return std::get<T>(state_);
  }
  const T& operator*() const {
    CHECK(*this);
    return std::get<T>(state_);
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  const Error& error() const {
    CHECK(!*this);
    return std::get<Error>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;

}  // namespace flowtap
