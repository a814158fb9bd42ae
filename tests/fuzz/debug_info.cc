// Bytes -> an ELF file in memory with debug information, perhaps in compressed sections: its units,
// types, parameters of functions and source lines.

#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/interrupt.h"
#include "support.h"
#include "symbols/dwarf.h"
#include "symbols/dwarf_file.h"
#include "symbols/dwarf_types.h"

using namespace flowtap;

// Structs that hold structs, as far as a script could follow them.
static void look_into(DwarfTypes& types, const Type& type, int depth) {
  if (!type || !is(type, Kind::Struct) || !DwarfTypes::is_ours(type) || depth > 3) return;
  Type whole = types.complete(type);
  if (!whole) return;
  size_t fields = std::min<size_t>(whole->fields.size(), 8);
  for (size_t i = 0; i < fields; i++) look_into(types, whole->fields[i].type, depth + 1);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  restart_reading();
  // Debug information is opened by path: the file may name others.
  Fd memory(::memfd_create("fuzz", MFD_CLOEXEC));
  if (!memory.valid() || ::write(memory.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  std::string path = "/proc/self/fd/" + std::to_string(memory.get());
  DwarfTypes types;
  for (const char* name : {"struct a", "a", "enum e", "union u", "t"}) {
    Result<Type> type = types.find(path, name);
    if (!type) return 0;
    look_into(types, *type, 0);
  }
  for (uint64_t address : {uint64_t{0}, uint64_t{0x1000}}) {
    Result<std::vector<Field>> parameters = types.parameters(path, address);
    if (!parameters) continue;
    for (const Field& field : *parameters) look_into(types, field.type, 0);
  }
  // A function of the file itself, if it says where one is.
  Result<DwarfFile> file = DwarfFile::open(path);
  if (file)
    file->visit_units([&](Dwarf_Die& unit) {
      file->visit_functions(unit, [&](Dwarf_Die& function) {
        Dwarf_Addr begin = 0;
        if (::dwarf_lowpc(&function, &begin) == 0) (void)types.parameters(path, begin);
        return true;
      });
      return true;
    });
  (void)find_source_line(path, {.file = "a.c", .line = 3});
  return 0;
}
