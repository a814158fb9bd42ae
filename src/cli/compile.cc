// The stages of the compiler in order, and what is fixed between them; see compile.h.

#include "cli/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/check.h"
#include "base/directory.h"
#include "bpf/disassemble.h"
#include "builtins/builtins.h"
#include "builtins/probes.h"
#include "codegen/codegen.h"
#include "lang/c_parser.h"
#include "lang/expand.h"
#include "lang/parser.h"
#include "lang/printer.h"

namespace flowtap {

namespace fs = std::filesystem;

namespace {

ParseOptions parser_options(uint32_t first_id) {
  return {.is_builtin = [](std::string_view name) { return find_builtin(name) != nullptr; },
          .first_id = first_id};
}

class Compiler {
 public:
  Compiler(Sources& sources, const CompileOptions& options, Diagnostics& diagnostics)
      : sources_(sources), options_(options), diagnostics_(diagnostics) {}

  Ast parse_whole(uint32_t file) {
    main_file_ = file;
    Ast ast = parse_file(file, 1);
    merge_imports(ast);
    if (diagnostics_.has_errors()) return ast;
    CDeclarations declarations = parse_c(ast.c_definitions, predefined(), diagnostics_);
    expand(ast, declarations.defines, {options_.parameters}, diagnostics_);
    return ast;
  }

  std::vector<std::string> plan_names(uint32_t file) {
    main_file_ = file;
    Ast ast = parse_file(file, 1);
    merge_imports(ast);
    std::vector<std::string> names;
    for (const Plan& plan : ast.plans) names.push_back(plan.name);
    return names;
  }

  std::optional<Compiled> run(uint32_t file, const Target& target) {
    main_file_ = file;
    Ast ast = parse_file(file, 1);
    if (diagnostics_.has_errors()) return std::nullopt;
    merge_imports(ast);
    if (diagnostics_.has_errors()) return std::nullopt;
    keep_plan(ast);
    add_filter(ast);
    if (!options_.added.empty()) merge_file(ast, {}, "command line", options_.added);

    CDeclarations declarations = parse_c(ast.c_definitions, predefined(), diagnostics_);
    expand(ast, declarations.defines, {options_.parameters}, diagnostics_);
    // From here no macro, #define or positional parameter is left.
    dump("ast", [&] { return print_ast(ast); });
    if (diagnostics_.has_errors()) return std::nullopt;
    if (ast.probes.empty()) {
      diagnostics_.error({file, 0, 0}, "the script has no probe")
          .with_hint("write one, e.g. begin { printf(\"hello\\n\"); }");
      return std::nullopt;
    }

    CheckedProgram checked = check(ast, declarations, target, options_.check, diagnostics_);
    // From here every expression has a type and no wildcard is left.
    if (diagnostics_.has_errors()) return std::nullopt;
    dump("types", [&] { return print_types(checked); });
    if (checked.instances.empty()) {
      report_no_probe(ast);
      return std::nullopt;
    }

    Lowered lowered = lower(checked, target, options_.lower);
    for (ir::Program& program : lowered.programs) improve(program);
    // From here the maps, records and sites of the image are final.
    if (!generate_code(lowered)) return std::nullopt;
    if (options_.shrinks_maps) shrink_unused_maps(lowered.image);
    dump("bpf", [&] { return disassemble_all(lowered.image); });
    dump("maps", [&] { return print_maps(lowered.image); });
    const std::vector<Program>& programs = lowered.image.programs;
    bool has_relatives = std::any_of(programs.begin(), programs.end(),
                                     [](const Program& p) { return !p.made_as.empty(); });
    return Compiled{std::move(lowered.image), checked.config, checked.options, std::move(dumps_),
                    has_relatives};
  }

 private:
  Ast parse_file(uint32_t file, uint32_t first_id) {
    return parse(sources_, file, diagnostics_, parser_options(first_id));
  }

  void keep_plan(Ast& ast) {
    std::erase_if(ast.probes, [&](const Probe& probe) {
      return probe.plan >= 0 && ast.plans[static_cast<size_t>(probe.plan)].name != options_.plan;
    });
  }

  // Probes that flowtap runs itself, or a clock, happen in no process that could be chosen.
  void add_filter(Ast& ast) {
    if (options_.filter.empty()) return;
    Span origin{sources_.add("command line", options_.filter), 0, 0};
    for (Probe& probe : ast.probes) {
      const ProbeRow* row = find_probe_kind(probe.attach[0].parts[0]);
      if (!row || row->has(kRunByFlowtap) || row->kind == ProbeKind::Interval) continue;
      ExprPtr filter = parse_expression(options_.filter, origin, ast.next_id, diagnostics_,
                                        parser_options(ast.next_id));
      if (!filter) return;
      if (!probe.predicate) {
        probe.predicate = std::move(filter);
        continue;
      }
      Span span = probe.predicate->span;
      probe.predicate = std::make_unique<Expr>(
          Expr{ast.next_id++, span,
               Binary{BinaryOp::And, std::move(filter), std::move(probe.predicate)}});
    }
  }

  void report_no_probe(const Ast& ast) {
    Diagnostic& report = diagnostics_.error(ast.probes[0].span, "no probe is left to attach");
    const std::string& kind = ast.probes[0].attach[0].parts[0];
    if (kind == "test" || kind == "bench")
      report.with_hint(fmt::format("--{0} runs probes of the kind '{0}'", kind));
  }

  // Definitions of imported scripts go in front of the script's own.
  void merge_imports(Ast& ast) {
    std::set<std::string> seen;
    for (size_t i = 0; i < ast.imports.size(); i++) {
      Import import = ast.imports[i];
      if (!options_.import) {
        diagnostics_.error(import.span, "imports are not possible here");
        return;
      }
      auto files = options_.import(import_path(import));
      if (!files.ok()) {
        diagnostics_.error(import.span, files.error().message());
        continue;
      }
      for (auto& [name, text] : *files)
        if (seen.insert(real_path(name)).second) merge_file(ast, import, name, text);
    }
  }

  // Imports of an imported file start from where that file is.
  std::string import_path(const Import& import) const {
    if (import.span.file == main_file_) return import.path;
    std::error_code ignored;  // without a working directory the path stays as it is
    fs::path file = fs::absolute(sources_.file(import.span.file).name(), ignored);
    return (file.parent_path() / import.path).string();
  }

  void merge_file(Ast& ast, const Import& import, const std::string& name,
                  const std::string& text) {
    Ast other = parse_file(sources_.add(name, text), ast.next_id);
    ast.next_id = std::max(ast.next_id, other.next_id);
    if (!other.config.empty())
      diagnostics_.error(
          import.span,
          fmt::format("'{}' has a config block, which only the main script may have", name));
    for (Probe& probe : other.probes)
      if (probe.plan >= 0)
        probe.plan = plan_number(ast, other.plans[static_cast<size_t>(probe.plan)]);
    auto append = [](auto& to, auto& from) {
      std::move(from.begin(), from.end(), std::back_inserter(to));
    };
    append(ast.c_definitions, other.c_definitions);
    append(ast.imports, other.imports);
    append(ast.map_decls, other.map_decls);
    append(ast.tables, other.tables);
    append(ast.macros, other.macros);
    append(ast.functions, other.functions);
    append(ast.probes, other.probes);
  }

  // Plans of one name are one plan; others come behind those that are there.
  static int plan_number(Ast& ast, const Plan& plan) {
    auto same = [&](const Plan& other) { return other.name == plan.name; };
    auto found = std::find_if(ast.plans.begin(), ast.plans.end(), same);
    if (found == ast.plans.end()) found = ast.plans.insert(found, plan);
    return static_cast<int>(found - ast.plans.begin());
  }

  std::vector<std::string> predefined() const {
    if (!options_.defines_btf) return {};
    return {"BPFTRACE_HAVE_BTF"};
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
      if (!code.ok()) {
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

  Sources& sources_;
  uint32_t main_file_ = 0;
  const CompileOptions& options_;
  Diagnostics& diagnostics_;
  std::string dumps_;
};

}  // namespace

std::vector<std::string> plan_names(Sources& sources, uint32_t file,
                                    const CompileOptions& options) {
  Diagnostics ignored;  // compile() parses again, and says them
  return Compiler(sources, options, ignored).plan_names(file);
}

std::optional<Compiled> compile(Sources& sources, uint32_t file, const Target& target,
                                const CompileOptions& options, Diagnostics& diagnostics) {
  return Compiler(sources, options, diagnostics).run(file, target);
}

Ast parse_whole(Sources& sources, uint32_t file, const CompileOptions& options,
                Diagnostics& diagnostics) {
  return Compiler(sources, options, diagnostics).parse_whole(file);
}

}  // namespace flowtap
