// Bytes -> an ELF file, and the places where the linker writes addresses of functions it chooses.

#include "arch/arch.h"
#include "base/check.h"
#include "base/interrupt.h"
#include "support.h"
#include "symbols/indirect_slots.h"

using namespace flowtap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  restart_reading();
  std::string_view text = fuzz::text_of(data, size);
  Result<ElfFile> file = ElfFile::from_memory({text.begin(), text.end()}, "fuzz");
  if (!file || !file->is_64_bit()) return 0;
  std::vector<UserFunction> resolvers = file->functions().found;
  resolvers.push_back({.name = "strlen", .address = 0x1000, .is_resolver = true});
  IndirectSlots slots(resolvers, host_arch().indirect);
  CHECK(slots.of_library(*file).size() <= 10'000);
  for (const IndirectSlot& slot : slots.of_user(*file))
    CHECK(std::any_of(resolvers.begin(), resolvers.end(),
                      [&](const UserFunction& one) { return one.address == slot.resolver; }));
  return 0;
}
