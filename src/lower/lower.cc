// Lowering of a whole script; see lower.h.

#include "lower/lower.h"

#include <fmt/format.h>

#include "builtins/probes.h"
#include "lang/walk.h"
#include "lower/local_storage.h"
#include "lower/probe_lowering.h"

namespace flowtap {

// Kernels without kprobe_multi take a wildcard's functions one by one, and let go of them just as
// slowly: tens of milliseconds each. A program that does nothing any more need not be waited for.
static bool wants_gate(const Instance& instance, const Target& target) {
  constexpr size_t kMany = 32;
  const ProbeRow& row = probe_row(instance.kind);
  bool is_function = row.family == ProbeFamily::Function && row.program == ProgramType::Kprobe;
  return is_function && instance.attach.size() >= kMany && !target.has(Feature::KprobeMulti);
}

// A pair whose beginning is seen while its end is not yet attached would count as lost.
static bool begins_pairs(const Instance& instance, const CheckedProgram& checked) {
  if (probe_row(instance.kind).has(kRunByFlowtap)) return false;
  bool found = false;
  for_each_stmt(instance.body, [&](const Stmt& stmt) {
    auto* assign = std::get_if<Assign>(&stmt.node);
    if (!assign || !assign->target) return;
    MapId map = checked.of(*assign->target).map;
    found |= map.is_set() && checked.maps[map].is_paired();
  });
  return found;
}

static std::string program_name(const Instance& instance, size_t number) {
  std::string name;
  for (char c : instance.attach[0].name) {
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += is_plain ? c : '_';
  }
  return fmt::format("{}_{}", name, number);
}

// For messages: how a probe on a function was made when not as it was written.
static const char* relative_name(ProgramType type) {
  return type == ProgramType::Fentry ? "fentry" : type == ProgramType::Fexit ? "fexit" : "kprobe";
}

// Programs that write what is in task storage, for printing.
static void add_dumps(ImageBuilder& image, std::vector<Program>& programs,
                      std::vector<ir::Program>& codes) {
  for (size_t i = 0; i < image.checked().maps.size(); i++) {
    if (image.local_storage(MapId(i)) < 0) continue;
    Result<FunctionSignature> tasks = image.target().iterator("task");
    CHECK(tasks);
    Program program{.name = fmt::format("dump_{}", i), .type = ProgramType::Iter};
    program.attach_btf_id = tasks->btf_id;
    ir::Program code{.name = program.name};
    code.cpus = image.cpus();
    lower_dump(image, code, MapId(i));
    code.scratch_map = image.scratch(program.name);
    size_t map = static_cast<size_t>(image.script_map(MapId(i)));
    image.image().dumps.push_back({.program = programs.size(), .map = map});
    programs.push_back(std::move(program));
    codes.push_back(std::move(code));
  }
}

Lowered lower(const CheckedProgram& checked, const Target& target, const LowerOptions& options) {
  ImageBuilder image(checked, target, options);
  Lowered out;
  std::vector<Program> programs;
  for (const std::unique_ptr<Instance>& instance : checked.instances) {
    Program program;
    program.name = program_name(*instance, programs.size());
    program.type = instance->program;
    if (program.type != probe_row(instance->kind).program)
      program.made_as = relative_name(program.type);
    program.attach = instance->attach;
    program.attach_btf_id = instance->attach_btf_id;
    program.attach_module = instance->attach_module;
    program.waits_for_all = begins_pairs(*instance, checked);
    program.is_gated = program.waits_for_all || wants_gate(*instance, target);
    ir::Program code{.name = program.name};
    code.cpus = image.cpus();
    ProgramCode functions(code);
    ProbeLowering(functions, image, *instance, program).run();
    code.scratch_map = image.scratch(program.name);
    programs.push_back(std::move(program));
    out.programs.push_back(std::move(code));
  }
  add_dumps(image, programs, out.programs);
  image.fit_ring_buffer();
  out.image = std::move(image.image());
  out.image.programs = std::move(programs);
  return out;
}

}  // namespace flowtap
