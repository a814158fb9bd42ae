// The stages of the compiler in order, and what is fixed between them; see compile.h.

#include "compiler/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "bpf/disassemble.h"
#include "codegen/codegen.h"
#include "compiler/requirements.h"
#include "lang/printer.h"

namespace flowtap {

namespace {

class Compiler {
 public:
  Compiler(const Script& script, const CompileOptions& options, Diagnostics& diagnostics)
      : script_(script), options_(options), diagnostics_(diagnostics) {}

  std::optional<Compiled> run(const Target& target) {
    const Ast& ast = script_.ast;
    const int plan = plan_number();
    diagnostics_ = script_.diagnostics.of_plan(plan);
    if (diagnostics_.has_errors()) return std::nullopt;
    dump("ast", [&] { return print_ast(ast, plan); });
    const Probe* first = first_probe(plan);
    if (!first) {
      diagnostics_.error({}, "the script has no probe")
          .with_hint("write one, e.g. begin { printf(\"hello\\n\"); }");
      return std::nullopt;
    }

    CheckedProgram checked =
        check({ast, script_.declarations, plan}, target, options_.check, diagnostics_);
    // From here every expression has a type and no wildcard is left.
    if (diagnostics_.has_errors()) return std::nullopt;
    dump("types", [&] { return print_types(checked); });
    if (checked.instances.empty()) {
      report_no_probe(*first);
      return std::nullopt;
    }

    Lowered lowered = lower(checked, target, options_.lower);
    for (ir::Program& program : lowered.programs) improve(program);
    // From here the maps, records and sites of the image are final.
    if (!generate_code(lowered)) return std::nullopt;
    if (!require_kernel(lowered.image, target)) return std::nullopt;
    if (options_.lower.uses(Feature::SmallMaps)) shrink_unused_maps(lowered.image);
    dump("bpf", [&] { return disassemble_all(lowered.image); });
    dump("maps", [&] { return print_maps(lowered.image); });
    const std::vector<Program>& programs = lowered.image.programs;
    bool has_relatives = std::any_of(programs.begin(), programs.end(),
                                     [](const Program& p) { return !p.made_as.empty(); });
    return Compiled{std::move(lowered.image), checked.config, checked.options, std::move(dumps_),
                    has_relatives};
  }

 private:
  // -1: probes of no plan.
  int plan_number() const {
    for (size_t i = 0; i < script_.ast.plans.size(); i++)
      if (script_.ast.plans[i].name == options_.plan) return static_cast<int>(i);
    return -1;
  }

  const Probe* first_probe(int plan) const {
    for (const Probe& probe : script_.ast.probes)
      if (probe.is_in_plan(plan)) return &probe;
    return nullptr;
  }

  void report_no_probe(const Probe& first) {
    Diagnostic& report = diagnostics_.error(first.span, "no probe is left to attach");
    const std::string& kind = first.attach[0].parts[0];
    if (kind == "test" || kind == "bench")
      report.with_hint(fmt::format("--{0} runs probes of the kind '{0}'", kind));
  }

  void improve(ir::Program& program) {
    ir::simplify(program);
    std::string wrong = ir::check(program);
    if (!wrong.empty()) check_failed(__FILE__, __LINE__, wrong.c_str());
    dump("ir", [&] { return ir::print(program); });
  }

  bool generate_code(Lowered& lowered) {
    for (size_t i = 0; i < lowered.programs.size(); i++) {
      int scratch = lowered.programs[i].scratch_map;
      uint32_t cpus = lowered.programs[i].cpus;
      uint32_t scratch_size = 0;
      Program& out = lowered.image.programs[i];
      Result<Program> code = codegen::generate(std::move(lowered.programs[i]), scratch_size);
      if (!code) {
        diagnostics_.error(out.attach.empty() ? Span{} : out.attach[0].span, code.error().message())
            .with_hint("split the probe into several");
        return false;
      }
      out.insns = std::move(code->insns);
      out.spans = std::move(code->spans);
      out.relocations = std::move(code->relocations);
      out.subprograms = std::move(code->subprograms);
      // A map of no size is not made.
      lowered.image.maps[static_cast<size_t>(scratch)].value_size = scratch_size * cpus;
    }
    return true;
  }

  // The verifier would refuse it, and say less.
  bool require_kernel(const Image& image, const Target& target) {
    for (const Requirement& missing : missing_in(image, target))
      diagnostics_.error(missing.span, feature_row(missing.feature).needed());
    return !diagnostics_.has_errors();
  }

  // An option that is off leaves maps behind that only code which is gone has used. They stay
  // empty, and room for sixteen thousand keys on every CPU takes the kernel ten milliseconds to
  // find.
  static void shrink_unused_maps(Image& image) {
    std::vector<bool> is_used(image.maps.size());
    for (const Program& program : image.programs)
      for (const Relocation& relocation : program.relocations)
        if (relocation.map >= 0) is_used[static_cast<size_t>(relocation.map)] = true;
    for (size_t i = 0; i < image.maps.size(); i++)
      if (MapDef& map = image.maps[i]; map.is_script_map && !is_used[i]) {
        map.max_entries = 1;
        if (map.whole_keys >= 0) image.maps[static_cast<size_t>(map.whole_keys)].max_entries = 1;
        if (map.hot_keys >= 0) image.maps[static_cast<size_t>(map.hot_keys)].value_size = 0;
        map.hot_keys = -1;
      }
  }

  static std::string disassemble_all(const Image& image) {
    std::string out;
    for (const Program& program : image.programs)
      out += fmt::format("program {}\n{}", program.name, bpf::disassemble(program, image));
    return out;
  }

  static std::string print_maps(const Image& image) {
    std::string out;
    for (const MapDef& map : image.maps)
      if (map.value_size || map.type == MapType::Ringbuf)
        out +=
            fmt::format("{}: type {}, key {}, value {}, entries {}\n", map.name,
                        static_cast<int>(map.type), map.key_size, map.value_size, map.max_entries);
    return out;
  }

  template <typename F>  // a template so that a stage is printed only when asked for
  void dump(const char* stage, F text) {
    bool wanted =
        std::find(options_.dump.begin(), options_.dump.end(), stage) != options_.dump.end() ||
        std::find(options_.dump.begin(), options_.dump.end(), "all") != options_.dump.end();
    if (wanted) dumps_ += fmt::format("--- {}\n{}", stage, text());
  }

  const Script& script_;
  const CompileOptions& options_;
  Diagnostics& diagnostics_;
  std::string dumps_;
};

}  // namespace

std::optional<Compiled> compile(const Script& script, const Target& target,
                                const CompileOptions& options, Diagnostics& diagnostics) {
  return Compiler(script, options, diagnostics).run(target);
}

}  // namespace flowtap
