#pragma once
// TracedFiles: are the programs and modules that carry probes still the ones they were? A probe
// stays with the file that it was put into. When a package is upgraded meanwhile, new processes run
// another file of the same name, and nothing would be seen of them; in one that is written in place
// its code may move away from the probes. A module that comes back has none.

#include <sys/types.h>

#include <string>
#include <vector>

#include "bpf/image.h"
#include "output/writer.h"
#include "source/source.h"

namespace flowtap {

class TracedFiles {
 public:
  // When a probe has been attached.
  void note(const AttachPoint& point);
  // A message for each that has gone or is another one now.
  void report(const Sources& sources, Writer& writer) const;

 private:
  struct Seen {
    const AttachPoint* point;
    std::string path;
    dev_t device;
    ino_t number;
    int64_t written_ns;
  };
  std::vector<Seen> seen_;
};

}  // namespace flowtap
