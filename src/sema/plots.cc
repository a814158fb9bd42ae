// Checking the plot declaration: its columns must be in a table, its map must hold histograms.
// Entry point: check_plot_declaration().

#include "sema/plots.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace flowtap {

namespace {

using Names = std::vector<PlotDecl::Name>;

class PlotChecker {
 public:
  PlotChecker(const PlotDecl& decl, const Ast& ast, const CheckedProgram& program,
              Diagnostics& diagnostics)
      : decl_(decl), ast_(ast), program_(program), diagnostics_(diagnostics) {}

  bool run(PlotSpec& spec) {
    const PlotKindRow* kind = find_plot_kind(decl_.kind.text);
    if (!kind) return refuse_kind();
    spec = spec_of(kind->kind);
    if (spec.is_of_map() && !kind->takes_map)
      return refuse(decl_.values[0].span, fmt::format("'{}' draws columns, not maps", kind->word),
                    "a map of histograms is drawn by 'heat'");
    if (decl_.values.size() > 1 && !kind->takes_several)
      return refuse(decl_.values[1].span, fmt::format("'{}' draws one column", kind->word),
                    "several are drawn by 'lines'");
    return spec.is_of_map() ? check_map() : check_columns(spec);
  }

 private:
  bool refuse(Span span, std::string message, std::string hint) {
    Diagnostic& report = diagnostics_.error(span, std::move(message));
    if (!hint.empty()) report.with_hint(std::move(hint));
    return false;
  }

  static std::string near_hint(const std::string& name, const std::vector<std::string>& known) {
    std::optional<std::string> near = nearest(name, known);
    return near ? fmt::format("did you mean '{}'?", *near) : "";
  }

  bool refuse_kind() {
    std::vector<std::string> words;
    for (const PlotKindRow& row : all_plot_kinds()) words.emplace_back(row.word);
    return refuse(decl_.kind.span, fmt::format("'{}' is not a kind of plot", decl_.kind.text),
                  fmt::format("the kinds are {}", join(words, ", ")));
  }

  static std::vector<std::string> texts(const Names& names) {
    std::vector<std::string> out;
    for (const PlotDecl::Name& name : names) out.push_back(name.text);
    return out;
  }

  PlotSpec spec_of(PlotKind kind) const {
    return {.kind = kind,
            .values = texts(decl_.values),
            .unit = decl_.unit,
            .by = texts(decl_.by),
            .mark = decl_.mark.text,
            .marked = decl_.marked};
  }

  // One that only another plan or option fills is declared, or has no type here.
  bool check_map() {
    const PlotDecl::Name& wanted = decl_.values[0];
    std::vector<std::string> known;
    for (const MapDecl& map : ast_.map_decls) known.push_back(map.name);
    for (const MapInfo& map : program_.maps) {
      known.push_back(map.name);
      bool is_other =
          is(map.value, Kind::Unknown) || is(map.value, Kind::Hist) || is(map.value, Kind::Lhist);
      if (map.name == wanted.text && !is_other)
        return refuse(wanted.span,
                      fmt::format("a plot of a map draws histograms, and '{}' holds '{}'", map.name,
                                  type_name(map.value)),
                      "");
    }
    if (contains(known, wanted.text)) return true;
    return refuse(wanted.span, fmt::format("there is no map '{}'", wanted.text),
                  near_hint(wanted.text, known));
  }

  bool check_columns(const PlotSpec& spec) {
    std::vector<std::string> known;
    for (const Table& table : program_.tables) {
      if (find_columns(spec, table)) return true;
      for (const Column& column : table.columns) known.push_back(column.name);
    }
    Names wanted = decl_.values;
    wanted.insert(wanted.end(), decl_.by.begin(), decl_.by.end());
    if (!decl_.mark.text.empty()) wanted.push_back(decl_.mark);
    for (const PlotDecl::Name& name : wanted)
      if (!contains(known, name.text))
        return refuse(name.span, fmt::format("no table has a column '{}'", name.text),
                      near_hint(name.text, known));
    return refuse(decl_.span,
                  fmt::format("no table has all of these columns, with numbers in {}",
                              join(spec.values, ", ")) +
                      " and a column of kind time",
                  "");
  }

  const PlotDecl& decl_;
  const Ast& ast_;
  const CheckedProgram& program_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::optional<PlotSpec> check_plot_declaration(const Ast& ast, const CheckedProgram& program,
                                               Diagnostics& diagnostics) {
  if (ast.plots.empty()) return std::nullopt;
  PlotSpec spec;
  bool is_right = PlotChecker(ast.plots[0], ast, program, diagnostics).run(spec);
  return is_right ? std::optional(std::move(spec)) : std::nullopt;
}

}  // namespace flowtap
