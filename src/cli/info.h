#pragma once
// --info: what this kernel offers, found out by trying.

#include <string>

namespace flowtap {

std::string describe_machine();

}  // namespace flowtap
