// Help, man pages and the document about all tools; see tool_text.h.

#include "cli/tool_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "cli/help.h"
#include "cli/script_files.h"
#include "cli/tool_options.h"

namespace flowtap {

namespace {

std::string behind_options(const ToolAbout& tool) {
  return tool.usage.empty() ? "" : " " + tool.usage;
}

std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> all(1);
  for (const std::string& line : split(text, '\n'))
    if (line.empty())
      all.emplace_back();
    else
      all.back() += line;
  return all;
}

std::vector<TextPair> option_rows(const ToolAbout& tool) {
  std::vector<TextPair> rows;
  for (const OptionText& text : option_texts(tool)) rows.push_back({text.spelling, text.meaning});
  return rows;
}

std::vector<TextPair> column_rows(const Table& table) {
  std::vector<TextPair> rows;
  for (const Column& column : table.columns) rows.push_back({column.heading, column.doc});
  return rows;
}

using Layers = std::map<std::string, std::vector<ToolAbout>>;

Layers by_layer(bool only_carried) {
  Layers layers;
  for (const ToolFile& file : all_tools()) {
    if (only_carried && !file.folder.empty()) continue;
    if (Result<ToolAbout> about = describe_tool(file, parse_tool(file)); about)
      layers[about->head.layer.empty() ? "other" : about->head.layer].push_back(std::move(*about));
  }
  for (const GenericTool* tool : generic_tools())
    layers["generic"].push_back(describe_generic(*tool));
  return layers;
}

}  // namespace

std::string tool_help(const ToolAbout& tool) {
  std::string out = fmt::format("{} - {}\n\nusage: flowtap {} [options]{}\n", tool.name,
                                tool.head.summary, tool.name, behind_options(tool));
  for (const std::string& paragraph : paragraphs(tool.head.description))
    out += "\n" + filled(paragraph, 80);
  out += "\noptions:\n" + two_columns(option_rows(tool));
  for (const Table& table : tool.tables)
    out += fmt::format("\ncolumns{}:\n",
                       tool.tables.size() > 1 ? " of table " + table.name : std::string()) +
           two_columns(column_rows(table));
  if (!tool.plans.empty()) out += fmt::format("\nplans: {}\n", join(tool.plans, ", "));
  if (!tool.head.needs.empty()) out += "\nneeds: " + filled(tool.head.needs, 80);
  if (!tool.head.overhead.empty()) out += "\noverhead: " + filled(tool.head.overhead, 80);
  if (!tool.head.example.empty()) out += "\nexample: " + tool.head.example + "\n";
  if (!tool.head.see_also.empty()) out += "\nsee also: " + tool.head.see_also + "\n";
  return out;
}

// --- man pages ----------------------------------------------------------------------------------
namespace {

std::string man_section(std::string_view title, const std::string& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n{}\n", title, roff(text));
}

}  // namespace

std::string tool_man_page(const ToolAbout& tool) {
  std::string out = fmt::format(
      ".TH FLOWTAP\\-{} 1 \"\" \"flowtap {}\"\n.SH NAME\nflowtap\\-{} \\- {}\n.SH SYNOPSIS\n.B "
      "flowtap "
      "{}\n[options]{}\n.SH DESCRIPTION\n",
      to_upper(roff(tool.name)), FLOWTAP_VERSION, roff(tool.name), roff(tool.head.summary),
      roff(tool.name), roff(behind_options(tool)));
  for (const std::string& paragraph : paragraphs(tool.head.description))
    out += ".PP\n" + roff(filled(paragraph, 80));
  out += ".SH OPTIONS\n" + man_terms(option_rows(tool));
  for (const Table& table : tool.tables)
    out += fmt::format(".SH COLUMNS{}\n",
                       tool.tables.size() > 1 ? " OF " + to_upper(table.name) : std::string()) +
           man_terms(column_rows(table));
  out += man_section("NEEDS", tool.head.needs) + man_section("OVERHEAD", tool.head.overhead);
  if (!tool.head.example.empty()) out += ".SH EXAMPLE\n.nf\n" + roff(tool.head.example) + "\n.fi\n";
  return out + man_section("SEE ALSO", tool.head.see_also);
}

// --- all tools
// ------------------------------------------------------------------------------------
std::string tools_list() {
  std::string out;
  for (const auto& [layer, tools] : by_layer(false)) {
    std::vector<TextPair> rows;
    for (const ToolAbout& tool : tools) rows.push_back({tool.name, tool.head.summary});
    out += fmt::format("{}{}\n", out.empty() ? "" : "\n", layer) + two_columns(rows);
  }
  return out;
}

std::string tools_page() {
  std::string out =
      "# Tools\n\n"
      "Written by `flowtap --docs tools` from the heads and declarations of the scripts. `flowtap "
      "NAME` runs a tool, `flowtap "
      "help NAME` shows this text,\n`flowtap source NAME` the script (`source --all NAME`: with "
      "its "
      "libraries), `flowtap check NAME` what works on this machine. Scripts\nin "
      "`~/.config/flowtap/tools` and in the directories of `$FLOWTAP_TOOLS` are tools too.\n";
  Layers layers = by_layer(true);
  for (const auto& [layer, tools] : layers) {
    out += fmt::format("\n## {}\n\n| tool | what it shows |\n|---|---|\n", layer);
    for (const ToolAbout& tool : tools)
      out += fmt::format("| [{0}](#{0}) | {1} |\n", tool.name, markdown_cell(tool.head.summary));
  }
  for (const auto& [layer, tools] : layers)
    for (const ToolAbout& tool : tools) {
      out += fmt::format("\n## {}\n\n", tool.name);
      if (!tool.usage.empty())
        out += fmt::format("`flowtap {} [options] {}`\n\n", tool.name, tool.usage);
      out += tool.head.description + "\n\n";
      out += "| option | meaning |\n|---|---|\n";
      for (const TextPair& row : option_rows(tool))
        out += fmt::format("| `{}` | {} |\n", markdown_cell(row.left), markdown_cell(row.right));
      for (const Table& table : tool.tables) {
        out += "\n| column | JSON and CSV | meaning |\n|---|---|---|\n";
        for (const Column& column : table.columns)
          out += fmt::format("| {} | `{}` | {} |\n", column.heading, column.key,
                             markdown_cell(column.doc));
      }
      if (!tool.head.needs.empty()) out += fmt::format("\nNeeds: {}\n", tool.head.needs);
      if (!tool.head.overhead.empty()) out += fmt::format("\nOverhead: {}\n", tool.head.overhead);
      if (!tool.head.example.empty()) out += fmt::format("\n```text\n{}\n```\n", tool.head.example);
    }
  return out;
}

}  // namespace flowtap
