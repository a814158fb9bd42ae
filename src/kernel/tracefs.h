#pragma once
// Tracefs: the kernel's tracing file system: which events and functions there are.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace flowtap {

class Tracefs {
 public:
  // Where tracefs is mounted on this machine. Mounts it when it is not and we may.
  static Result<Tracefs> find();
  explicit Tracefs(std::string directory) : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }

  // "category:event", sorted. Both patterns are globs.
  std::vector<std::string> events(std::string_view category, std::string_view event) const;
  // The text of an event's format file.
  Result<std::string> format(std::string_view category, std::string_view event) const;

  // Calls `visit` for each function that can be traced, module "vmlinux" for the kernel's own.
  // An Error when the kernel does not show them (lockdown, or no function tracer).
  using VisitFunction = std::function<void(std::string_view module, std::string_view function)>;
  Status traceable_functions(const VisitFunction& visit) const;

 private:
  bool has_event(std::string_view category, std::string_view event) const;

  std::string directory_;
};

}  // namespace flowtap
