#pragma once
// An image becomes kernel objects: maps and programs, not yet attached to anything.

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "bpf/image.h"

namespace flowtap {

struct LoadOptions {
  std::string license = "GPL";
  uint64_t log_size = 1000000;  // bytes for the verifier's log, used when it refuses something
  // False: one event for each probe, also where the kernel can attach many at once.
  bool uses_kprobe_multi = true;
  bool uses_uprobe_multi = true;
  // False: a refused program is an error, also where others of its group are left.
  bool leaves_out = true;
};

// What the verifier had against a program.
struct Refusal {
  size_t program = 0;        // index into Image::programs
  std::string reason;        // one line, in its own words
  std::optional<Span> span;  // the piece of script that the instruction came from
  std::string log;           // all it wrote
  std::string rights;        // what to do when it is not the program's fault; usually empty
};

// A program of a group of attach points that goes on without it; see AttachPoint::group.
struct LeftOutProgram {
  size_t program = 0;  // index into Image::programs
  Error error;
  std::string reason;  // short, without the name of the attach point
};

// Both lists are in step with those of the image. Closing the descriptors removes everything.
struct LoadedImage {
  std::vector<Fd> maps;      // invalid where the map has no size
  std::vector<Fd> programs;  // invalid for those left out
  std::vector<LeftOutProgram> left_out;
  bool uprobe_multi = false;  // user probes can be attached many at once, and only so
  bool kprobe_multi = false;  // the same for programs on many kernel functions
};

// When the verifier is the one who refuses, `refusal` (if not null) says what and where.
Result<LoadedImage> load(const Image& image, const LoadOptions& options,
                         std::optional<Refusal>* refusal = nullptr);

}  // namespace flowtap
