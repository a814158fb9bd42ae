#pragma once
// Lowering: checked program -> IR, and the image's maps, record schemas and sites. Cannot fail:
// what cannot be lowered, the checker has refused.

#include <array>

#include "bpf/image.h"
#include "ir/ir.h"
#include "sema/checked.h"
#include "target/target.h"

namespace flowtap {

struct LowerOptions {
  bool warns = false;           // -k: failed reads and lookups are counted too
  std::optional<int> pid;       // -p: kernel probes run for this process only
  std::optional<int> user_pid;  // -p or -c: the same for user probes
  FeatureSet unused;            // --no-feature
  // Where the digests of large keys start. A secret of each run, so that nobody can
  // make keys that share one.
  std::array<uint64_t, 2> key_seed{0x243f6a8885a308d3, 0x13198a2e03707344};
  uint64_t ringbuf_bytes = 4 << 20;
  uint64_t max_keys = 0;      // --max-keys: of every map, whatever the script says; 0: as it says
  uint64_t start_ns = 0;      // boot clock when flowtap started, for `elapsed`
  int64_t tai_offset_ns = 0;  // wall clock minus boot clock, for nsecs(sw_tai)
  struct PidNamespace {
    uint64_t device = 0, inode = 0;
  };
  std::optional<PidNamespace> pid_namespace;  // set when flowtap is not in the initial one

  bool uses(Feature feature) const { return !unused.has(feature); }
};

struct Lowered {
  Image image;                        // programs have everything but their instructions
  std::vector<ir::Program> programs;  // one per image program
};

Lowered lower(const CheckedProgram& program, const Target& target, const LowerOptions& options);

}  // namespace flowtap
