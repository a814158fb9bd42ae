#pragma once
// The image's maps as kernel objects.

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "bpf/image.h"

namespace flowtap {

// One descriptor per map of the image, in its order. A map without size gets none: the script
// names it but never stores anything.
Result<std::vector<Fd>> create_maps(const Image& image);

// One of the arrays that a map of arrays takes.
Result<Fd> create_inner_array(const MapDef& map);

// A name as bpf(2) takes it: at most 15 characters, letters, digits and '_' only.
std::string kernel_name(std::string_view name);

}  // namespace flowtap
