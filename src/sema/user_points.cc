// Places in user programs; see user_points.h.

#include "sema/user_points.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace flowtap {

// The files of a target; an empty one stands for all that the process of -p executes.
std::vector<std::string> UserPoints::find_binaries(const std::string& name) {
  Result<std::vector<std::string>> paths = target_.binaries(name);
  if (paths) return *paths;
  Diagnostic& report = error(paths.error().message());
  if (!paths.error().hint.empty()) report.with_hint(paths.error().hint);
  return {};
}

// Where the target may be many files, one that lacks what is looked for is no mistake.
bool UserPoints::names_one_binary() const { return !part(1).empty() && !has_glob(part(1)); }
bool UserPoints::is_wildcard() const {
  return !names_one_binary() || has_glob(part(count())) || (count() == 3 && has_glob(part(2)));
}

// A place of a user program, unless a uprobe does not go there.
AttachPoint* UserPoints::add_place(const ProbeRow& row, std::string name, const std::string& path,
                                   uint64_t file_offset, bool begins_function,
                                   const std::string& whose) {
  auto problem = target_.probe_site_problem(path, file_offset, begins_function);
  if (problem) {
    bool is_wanted = !options_.keeps_probe || options_.keeps_probe(name);
    if (!is_wanted) return nullptr;
    if (is_wildcard() || options_.allows_missing)
      left_out_.push_back({std::move(name), std::move(*problem)});
    else
      error(fmt::format("cannot probe '{}': {}{}", name, whose,
                        why_not_there(*problem, begins_function)));
    return nullptr;
  }
  AttachPoint& point = add(row.kind, std::move(name));
  point.target = path;
  point.file_offset = file_offset;
  point.is_one_of_many = is_wildcard();
  return &point;
}

void UserPoints::expand_function(const ProbeRow& row) {
  if (count() > 2 && part(2).starts_with('@')) return expand_source_line(row);
  bool is_cpp = count() == 3 && part(2) == "cpp";
  if (!is_cpp && !expect_parts(row, 2, 2)) return;
  std::string function = part(count());
  uint64_t offset = 0;
  if (!is_cpp && !split_offset(function, offset)) return;
  if (offset && !row.has(kTakesOffset))
    return void(error("a uretprobe takes no offset: a function returns as a whole"));
  for (const std::string& path : find_binaries(part(1)))
    expand_in_binary(row, path, function, offset, is_cpp);
}

void UserPoints::expand_in_binary(const ProbeRow& row, const std::string& path,
                                  const std::string& function, uint64_t offset, bool is_cpp) {
  bool is_one_name = !is_cpp && !has_glob(function) && !parse_number(function);
  Result<std::vector<UserFunction>> functions =
      target_.user_functions(path, is_one_name ? function : "");
  if (!functions) {
    if (names_one_binary()) error(functions.error().message());
    return;
  }
  if (std::optional<int64_t> address = parse_number(function))
    return add_address(row, path, static_cast<uint64_t>(*address), *functions);
  bool found = false;
  std::vector<uint64_t> seen;
  for (const UserFunction& candidate : *functions) {
    bool matches = is_cpp ? target_.demangled_matches(candidate.name, function)
                          : glob_match(function, candidate.name);
    if (!matches || std::find(seen.begin(), seen.end(), candidate.file_offset) != seen.end())
      continue;
    // One place may have several names, of which a filter may want the last.
    std::string name = fmt::format("{}:{}:{}", row.name, path, candidate.name);
    if (has_glob(function) && options_.keeps_probe && !options_.keeps_probe(name)) continue;
    found = true;
    if (candidate.is_resolver && !is_cpp) {
      add_implementations(row, path, candidate, offset, seen);
      continue;
    }
    seen.push_back(candidate.file_offset);
    if (is_one_name && !check_size(path, candidate)) continue;
    if (!check_offset(path, candidate, offset)) continue;
    add_user(row, path, candidate, offset);
  }
  bool may_be_missing = options_.allows_missing || has_glob(function) || !names_one_binary();
  if (!found && !may_be_missing) report_no_function(path, function);
}

// Calls of a function that the dynamic linker chooses go to what it has chosen; its symbol stands
// for the code that chooses.
void UserPoints::add_implementations(const ProbeRow& row, const std::string& path,
                                     const UserFunction& resolver, uint64_t offset,
                                     std::vector<uint64_t>& seen) {
  std::string name = fmt::format("{}:{}:{}", row.name, path, resolver.name);
  std::vector<UserFunction> chosen = target_.implementations(path, resolver);
  if (offset) {
    error(
        fmt::format("'{}' is one of several functions that the dynamic linker chooses from "
                    "(IFUNC), so that '+{}' is no place",
                    resolver.name, offset));
    return;
  }
  if (chosen.empty() && (is_wildcard() || options_.allows_missing)) {
    left_out_.push_back({name, std::nullopt});
  } else if (chosen.empty()) {
    error(fmt::format("the dynamic linker chooses the function '{}' (IFUNC), and no running "
                      "process shows which one",
                      resolver.name))
        .with_hint("start the program first; only root sees the processes of other users");
  }
  for (UserFunction one : chosen) {
    if (std::find(seen.begin(), seen.end(), one.file_offset) != seen.end()) continue;
    seen.push_back(one.file_offset);
    std::string implementation = std::exchange(one.name, resolver.name);
    add_user(row, path, one, 0, name, fmt::format("of its implementation {}, ", implementation));
    if (!is_wildcard()) warn_of_shared_code(path, resolver, one.address);
  }
}

// memcpy() and memmove() are one function on many processors.
void UserPoints::warn_of_shared_code(const std::string& path, const UserFunction& resolver,
                                     uint64_t address) {
  std::vector<std::string> names;
  Result<std::vector<UserFunction>> functions = target_.user_functions(path);
  if (!functions) return;
  for (const UserFunction& other : *functions) {
    bool is_internal = other.name.starts_with('_');
    if (!other.is_resolver || other.address == resolver.address || is_internal) continue;
    for (const UserFunction& one : target_.implementations(path, other))
      if (one.address == address) names.push_back(fmt::format("'{}'", other.name));
  }
  if (names.empty()) return;
  diagnostics_.warning(spec_.span,
                       fmt::format("'{}' has its code in common with {}: calls of all are seen",
                                   resolver.name, fmt::join(names, ", ")));
}

// Such as _init, which the linker puts together from pieces.
bool UserPoints::check_size(const std::string& path, const UserFunction& function) {
  if (function.size > 0 || options_.is_unsafe) return true;
  error(fmt::format("symbol '{}' of '{}' has size 0, so it may not be a function", function.name,
                    path))
      .with_hint("--unsafe attaches anyway");
  return false;
}

// A breakpoint inside an instruction makes the program do something else.
bool UserPoints::check_offset(const std::string& path, const UserFunction& function,
                              uint64_t offset) {
  if (offset == 0 || options_.is_unsafe) return true;
  if (function.size > 0 && offset >= function.size) {
    error(fmt::format("'{}' has {}, so '+{}' is outside of it", function.name,
                      counted(function.size, "byte"), offset));
    return false;
  }
  uint64_t start = target_.instruction_start(path, function, offset).value_or(offset);
  if (start == offset) return true;
  error(fmt::format("'{}+{}' is inside an instruction", function.name, offset))
      .with_hint(fmt::format("the instruction begins at '+{}'; --unsafe attaches anyway", start));
  return false;
}

void UserPoints::report_no_function(const std::string& path, const std::string& function) {
  Result<std::vector<UserFunction>> read = target_.user_functions(path);
  std::vector<UserFunction> functions = read ? std::move(*read) : std::vector<UserFunction>();
  std::vector<std::string> names;
  names.reserve(functions.size());
  for (const UserFunction& candidate : functions) names.push_back(candidate.name);
  Diagnostic& report = error(fmt::format("'{}' has no function '{}'", path, function));
  if (auto near = nearest(function, names))
    report.with_hint(fmt::format("did you mean '{}'?", *near));
}

void UserPoints::add_user(const ProbeRow& row, const std::string& path,
                          const UserFunction& function, uint64_t offset, std::string name,
                          const std::string& whose) {
  std::string suffix = offset ? fmt::format("+{}", offset) : "";
  if (name.empty()) name = fmt::format("{}:{}:{}{}", row.name, path, function.name, suffix);
  AttachPoint* point =
      add_place(row, std::move(name), path, function.file_offset + offset, offset == 0, whose);
  if (!point) return;
  point->function = function.name;
  point->offset = offset;
  point->address = function.address;
}

// An ELF virtual address. Only in a known function can be told whether an instruction begins
// there.
void UserPoints::add_address(const ProbeRow& row, const std::string& path, uint64_t address,
                             const std::vector<UserFunction>& functions) {
  std::optional<uint64_t> file_offset = target_.code_offset(path, address);
  if (!file_offset)
    return void(error(fmt::format("'{}' has no code at address {:#x}", path, address)));
  auto holds = [&](const UserFunction& function) {
    return address >= function.address &&
           address < function.address + std::max<uint64_t>(1, function.size);
  };
  auto function = std::find_if(functions.begin(), functions.end(), holds);
  bool is_known = function != functions.end();
  if (!is_known && !options_.is_unsafe) {
    error(fmt::format("address {:#x} is in no function of '{}'", address, path))
        .with_hint("--unsafe attaches anyway");
    return;
  }
  if (is_known && !check_offset(path, *function, address - function->address)) return;
  AttachPoint* point = add_place(row, fmt::format("{}:{}:{:#x}", row.name, path, address), path,
                                 *file_offset, is_known && address == function->address);
  if (!point) return;
  point->function = is_known ? function->name : "";
  point->address = address;
}

// uprobe:BINARY@FILE:LINE[:COLUMN]: the first statement of that line in each function that has
// one, since lines of inlined functions become code in many places.
void UserPoints::expand_source_line(const ProbeRow& row) {
  if (!row.has(kTakesOffset))
    return void(error("a uretprobe takes no line: a function returns as a whole"));
  int64_t line = count() > 2 ? parse_number(part(3)).value_or(0) : 0;
  std::optional<int64_t> column = count() == 4 ? parse_number(part(4)) : 0;
  if (count() > 4 || line < 1 || !column)
    return void(error("a source line is written as 'uprobe:BINARY@FILE:LINE[:COLUMN]'"));
  SourcePlace place{.file = part(2).substr(1), .line = line, .column = *column};
  for (const std::string& path : find_binaries(part(1))) {
    Result<std::vector<uint64_t>> addresses = target_.source_line(path, place);
    Result<std::vector<UserFunction>> functions = target_.user_functions(path);
    if (addresses && functions) {
      add_source_line(row, path, place, *addresses, *functions);
    } else if (names_one_binary()) {
      const Error& reason = addresses ? functions.error() : addresses.error();
      Diagnostic& report = error(reason.message());
      if (!reason.hint.empty()) report.with_hint(reason.hint);
    }
  }
}

void UserPoints::add_source_line(const ProbeRow& row, const std::string& path,
                                 const SourcePlace& place, const std::vector<uint64_t>& addresses,
                                 const std::vector<UserFunction>& functions) {
  std::vector<uint64_t> seen;  // functions; one may have several names
  for (uint64_t address : addresses)
    for (const UserFunction& function : functions) {
      bool holds = address >= function.address && address - function.address < function.size;
      if (!holds || std::find(seen.begin(), seen.end(), function.address) != seen.end()) continue;
      seen.push_back(function.address);
      add_user(row, path, function, address - function.address,
               fmt::format("{}:{}@{}:{}", row.name, path, place.file, place.line));
    }
}

void UserPoints::expand_marker(const ProbeRow& row) {
  if (!expect_parts(row, 1, 3)) return;
  std::string provider = count() == 3 ? part(2) : "*";
  std::string name = part(count());
  bool is_in_process = count() == 1;  // usdt:NAME
  for (const std::string& path : find_binaries(is_in_process ? "" : part(1))) {
    Result<std::vector<UsdtProbe>> probes = target_.usdt_probes(path);
    if (!probes) {
      if (!is_in_process && names_one_binary()) error(probes.error().message());
      continue;
    }
    for (const UsdtProbe& probe : *probes)
      if (glob_match(provider, probe.provider) && glob_match(name, probe.name))
        add_usdt(row, path, probe);
  }
}

void UserPoints::add_usdt(const ProbeRow& row, const std::string& path, const UsdtProbe& probe) {
  AttachPoint* point =
      add_place(row, fmt::format("{}:{}:{}:{}", row.name, path, probe.provider, probe.name), path,
                probe.file_offset, false);
  if (!point) return;
  point->provider = probe.provider;
  point->function = probe.name;
  point->address = probe.address;
  point->semaphore_offset = probe.semaphore_offset;
}

}  // namespace flowtap
