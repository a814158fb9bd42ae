#pragma once
// The machine of the golden tests, tests/target/small.target.

#include <fstream>
#include <iterator>

#include "base/check.h"
#include "target/file_target.h"

namespace flowtap::fuzz {

inline FileTarget small_target() {
  std::ifstream file(FLOWTAP_SOURCE_DIR "/tests/target/small.target");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<FileTarget> target = FileTarget::parse(text);
  CHECK(target);
  return std::move(*target);
}

}  // namespace flowtap::fuzz
