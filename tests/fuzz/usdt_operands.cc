// The argument string of a USDT note, which the author of a traced program chose.

#include "arch/arch.h"
#include "support.h"

using namespace flowtap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  UsdtOperandContext context{
      .probe_address = 0x1180,
      .symbol_address = [](std::string_view name) -> std::optional<uint64_t> {
        if (name.starts_with('x')) return uint64_t{0x4010};
        return std::nullopt;
      }};
  for (const UsdtArgument& argument :
       host_arch().usdt_arguments(fuzz::text_of(data, size), context))
    CHECK(argument.bytes == 1 || argument.bytes == 2 || argument.bytes == 4 || argument.bytes == 8);
  return 0;
}
