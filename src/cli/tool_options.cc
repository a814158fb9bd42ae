// Options of tools; see tool_options.h.

#include "cli/tool_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace flowtap {

// Options that mean the same in every tool get their words from the table.
static void complete(ToolOption& option) {
  if (const OptionRow* row = find_option(option.name, kScript)) {
    option.letter = row->spec.letter;
    option.word = row->spec.word;
    if (option.doc.empty()) option.doc = row->spec.doc;
  }
  if (option.word.empty() && option.takes != Takes::Maybe)
    option.word = option.takes == Takes::Number ? "N" : "TEXT";
}

Result<ToolAbout> describe_tool(const ToolFile& tool, const Script& script) {
  Result<ToolAbout> about = describe_script(tool.name, script);
  if (!about) return about.error();
  for (ToolOption& option : about->options) complete(option);
  return about;
}

ToolAbout describe_generic(const GenericTool& tool) {
  ToolAbout about{.name = std::string(tool.name)};
  about.usage = tool.usage;
  about.is_generic = true;
  about.head.summary = tool.summary;
  about.head.layer = "generic";
  about.head.description = tool.description;
  about.head.overhead = fmt::format(
      "{} As --stats and the load's own CPU time say, beside a dd(1) that reads 300 000 times: "
      "tracepoints and functions of programs on Linux 6.18 in a busy virtual machine with 2 CPUs, "
      "functions of the kernel (20 000 reads) on Linux 6.12 in an emulated one, where all takes "
      "longer.",
      tool.overhead);
  about.head.example = tool.example;
  about.head.see_also = tool.see_also;
  about.head.needs =
      "kprobes or fentry for kernel functions. Tracepoints, markers and functions of programs need "
      "nothing but root.";
  for (const OptionSpec& option : tool.options)
    about.options.push_back({.name = std::string(option.name),
                             .letter = option.letter,
                             .takes = option.takes,
                             .word = std::string(option.word),
                             .doc = std::string(option.doc)});
  return about;
}

std::vector<const OptionRow*> frame_options(const ToolAbout& tool) {
  if (tool.is_generic) return {};
  unsigned owners = kEveryTool;
  if (tool.head.is_about_current) owners |= kProcess;
  if (tool.interval) owners |= kReports;
  if (tool.has_plot) owners |= kPlots;
  std::vector<const OptionRow*> rows;
  for (const OptionRow& row : option_table()) {
    bool is_declared =
        std::any_of(tool.options.begin(), tool.options.end(),
                    [&](const ToolOption& option) { return option.name == row.spec.name; });
    if (row.is_of(owners) && !is_declared) rows.push_back(&row);
  }
  return rows;
}

std::vector<OptionText> option_texts(const ToolAbout& tool) {
  auto with_default = [](std::string doc, const std::string& fallback) {
    return fallback.empty() ? doc : fmt::format("{} (default {})", doc, fallback);
  };
  std::vector<OptionText> texts;
  for (const ToolOption& option : tool.options)
    texts.push_back({spelling({option.letter, option.name, option.takes, option.word, ""}),
                     with_default(option.doc, option.fallback)});
  for (const OptionRow* row : frame_options(tool)) {
    std::string fallback;
    if (row->spec.name == "interval")
      fallback = *tool.interval ? std::to_string(*tool.interval) : "once, on exit";
    texts.push_back({spelling(row->spec), with_default(std::string(row->spec.doc), fallback)});
  }
  for (const OptionRow& row : option_table())
    if (row.is_of(kInToolHelp)) texts.push_back({spelling(row.spec), std::string(row.spec.doc)});
  return texts;
}

}  // namespace flowtap
