// Collects requirements from the finished image, so that none can be forgotten: whatever made a
// call, it is there. See requirements.h; target/feature.cc has the row of each.

#include "compiler/requirements.h"

#include <linux/bpf.h>

#include <algorithm>

#include "base/check.h"
#include "builtins/probes.h"

namespace flowtap {
namespace {

class Collector {
 public:
  std::vector<Requirement> run(const Image& image) {
    for (const MapDef& map : image.maps) add_map(map);
    for (const Program& program : image.programs) add_program(program);
    return std::move(found_);
  }

 private:
  void add(Feature feature, Span span) {
    if (seen_.has(feature)) return;
    seen_.add(feature);
    found_.push_back({feature, span});
  }

  void add_map(const MapDef& map) {
    if (map.type == MapType::Ringbuf) add(Feature::RingBuffers, {});
    if (map.type == MapType::TaskStorage) add(Feature::TaskStorageMaps, {});
    if (map.is_mapped) add(Feature::MappedArrays, {});
  }

  void add_program(const Program& program) {
    for (const AttachPoint& point : program.attach)
      if (probe_row(point.kind).has(kRunByFlowtap)) add(Feature::RunPrograms, point.span);
    for (size_t i = 0; i < program.insns.size(); i++) {
      const bpf::Insn& insn = program.insns[i];
      if (insn.code != (BPF_JMP | BPF_CALL) || insn.src != 0) continue;  // or a kfunc
      const FeatureRow* row = find_helper(insn.imm);
      CHECK(row != nullptr);
      add(row->feature, program.spans[i]);
    }
  }

  FeatureSet seen_;
  std::vector<Requirement> found_;
};

}  // namespace

std::vector<Requirement> requirements_of(const Image& image) { return Collector().run(image); }

std::vector<Requirement> missing_in(const Image& image, const Target& target) {
  std::vector<Requirement> missing = requirements_of(image);
  std::erase_if(missing, [&](const Requirement& one) { return target.has(one.feature); });
  return missing;
}

}  // namespace flowtap
