#pragma once
// What the fuzz targets share. A target is one function from bytes to nothing that returns for
// every input: libFuzzer calls it with inputs it invents, replay.cc with those that are kept.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "source/diagnostics.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace flowtap::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The first few: each shows its line, and all of them would take most of the time.
inline void render_some(const Diagnostics& diagnostics, const Sources& sources) {
  size_t shown = std::min<size_t>(diagnostics.all().size(), 4);
  for (size_t i = 0; i < shown; i++) render(diagnostics.all()[i], sources);
}

// The input taken apart from its front; zeros when it has no more.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(std::as_bytes(std::span(data, size))) {}

  bool empty() const { return rest_.empty(); }
  uint8_t u8() {
    Bytes one = take(1);
    return one.empty() ? uint8_t{0} : std::to_integer<uint8_t>(one[0]);
  }
  // At most `size` bytes.
  Bytes take(size_t size) {
    Bytes taken = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  // Exactly `size` bytes.
  std::vector<std::byte> filled(size_t size) {
    Bytes taken = take(size);
    std::vector<std::byte> bytes(taken.begin(), taken.end());
    bytes.resize(size);
    return bytes;
  }

 private:
  Bytes rest_;
};

}  // namespace flowtap::fuzz
