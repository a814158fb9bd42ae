#pragma once
// RefusedPlaces: attach points that the kernel refused. A wildcard goes on without some of its
// places, and a probe that names several without some of those; a group that lost everything is an
// error.

#include <string>
#include <vector>

#include "base/result.h"
#include "bpf/image.h"
#include "load/load.h"
#include "output/writer.h"
#include "source/source.h"

namespace flowtap {

class RefusedPlaces {
 public:
  // False when the error does not concern this one place of a group.
  bool take(const AttachPoint& point, const Error& error);
  // The same for a program that was not loaded.
  void take_all(const Program& program, const LeftOutProgram& left_out);
  // The error of a group that lost all its places; what others lost is written.
  Status report(const Image& image, const Sources& sources, Writer& writer, bool warns) const;

 private:
  struct Refused {
    const AttachPoint* point;
    Error error;
    std::string reason;  // short, the same for many places
  };
  Status check_groups(const Image& image) const;
  std::vector<Refused> places_;
};

}  // namespace flowtap
