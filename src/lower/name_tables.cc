// Tables of names; see name_tables.h. Texts come from libc, system call names from the
// processor's table.

#include "lower/name_tables.h"

#include <cstring>

#include "base/check.h"

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

static NameTable make_syscalls(const Arch& arch) {
  NameTable table{.map_name = "syscall_names",
                  .entries = static_cast<uint32_t>(arch.system_calls.size())};
  for (const char* name : arch.system_calls) add(table, name ? name : "Unknown syscall");
  add(table, "Unknown syscall");
  return table;
}

NameTable name_table(Fn function, const Arch& arch) {
  switch (function) {
    case Fn::Strerror: return make_errors();
    case Fn::SignalName: return make_signals();
    case Fn::SyscallName: return make_syscalls(arch);
    default: UNREACHABLE("a function without a table of names");
  }
}

}  // namespace flowtap
