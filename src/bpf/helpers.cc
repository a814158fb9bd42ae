// Helper names, taken from the kernel's own list in <linux/bpf.h>.

#include "bpf/helpers.h"

#include <linux/bpf.h>

#include <iterator>

namespace flowtap::bpf {

std::string helper_name(int32_t number) {
#define HELPER_NAME(name) #name
  static const char* const kNames[] = {__BPF_FUNC_MAPPER(HELPER_NAME)};
#undef HELPER_NAME
  if (number < 0 || number >= static_cast<int32_t>(std::size(kNames)))
    return "helper#" + std::to_string(number);
  return kNames[number];
}

}  // namespace flowtap::bpf
