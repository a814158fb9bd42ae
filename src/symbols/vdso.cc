// Copies the vdso out of our own memory. Way in: open_vdso().

#include "symbols/vdso.h"

#include <sys/auxv.h>
#include <unistd.h>

#include "symbols/process_maps.h"

namespace flowtap {

Result<ElfFile> open_vdso() {
  uint64_t begin = ::getauxval(AT_SYSINFO_EHDR);
  for (const Mapping& mapping : ProcessFiles(::getpid()).executable_mappings()) {
    if (mapping.path != kVdso || begin < mapping.begin || begin >= mapping.end) continue;
    const char* bytes = reinterpret_cast<const char*>(begin);
    return ElfFile::from_memory({bytes, bytes + (mapping.end - begin)}, kVdso);
  }
  return Error{"this process has no vdso"};
}

}  // namespace flowtap
