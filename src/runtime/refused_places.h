#pragma once
// RefusedPlaces: what the kernel did not attach of wildcards. They go on without a place that is
// wrong; that everything fails is an error.

#include <vector>

#include "base/result.h"
#include "bpf/image.h"
#include "output/writer.h"
#include "source/source.h"

namespace flowtap {

class RefusedPlaces {
 public:
  // False when this is no matter of one place of a wildcard.
  bool take(const AttachPoint& point, const Error& error);
  // The error of a wildcard that lost all its places; what others lost is written.
  Status report(const Image& image, const Sources& sources, Writer& writer, bool warns) const;

 private:
  struct Refused {
    const AttachPoint* point;
    Error error;
  };
  std::vector<Refused> places_;
};

}  // namespace flowtap
