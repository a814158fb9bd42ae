// Tables of names; see name_tables.h. Texts come from libc, system call names from the compiled-in
// list that generate_syscalls.sh takes from <asm/unistd_64.h>.

#include "lower/name_tables.h"

#include <cstring>

#include "base/check.h"
#include "syscall_names.h"

namespace flowtap {

static void add(NameTable& table, const char* name) {
  std::string entry(name);
  entry.resize(kNameSize, '\0');
  entry.back() = '\0';
  table.bytes += entry;
}

static NameTable make_errors() {
  NameTable table{.map_name = "error_names", .entries = 134};
  for (uint32_t i = 0; i < table.entries; i++) {
    const char* text = strerrordesc_np(static_cast<int>(i));
    add(table, text ? text : "Unknown error");
  }
  add(table, "Unknown error");
  return table;
}

static NameTable make_signals() {
  NameTable table{.map_name = "signal_names", .entries = 65};
  for (uint32_t i = 0; i < table.entries; i++) {
    const char* text = sigdescr_np(static_cast<int>(i));
    add(table, text ? text : "Unknown signal");
  }
  add(table, "Unknown signal");
  return table;
}

static NameTable make_syscalls() {
  NameTable table{.map_name = "syscall_names",
                  .entries = static_cast<uint32_t>(std::size(kSyscallNames))};
  for (const char* name : kSyscallNames) add(table, name ? name : "Unknown syscall");
  add(table, "Unknown syscall");
  return table;
}

const NameTable& name_table(Fn function) {
  static const NameTable errors = make_errors(), signals = make_signals(),
                         syscalls = make_syscalls();
  switch (function) {
    case Fn::Strerror: return errors;
    case Fn::SignalName: return signals;
    case Fn::SyscallName: return syscalls;
    default: UNREACHABLE("a function without a table of names");
  }
}

}  // namespace flowtap
