// --docs; see docs.h. Way in: write_docs(). A section is a run of rows, named after its first
// row, because the tables are already sorted by purpose. A test compares the files under docs/
// with this text, so that they cannot fall behind the tables.

#include "cli/docs.h"

#include <fmt/format.h>

#include "builtins/builtins.h"
#include "builtins/probes.h"
#include "builtins/replacements.h"
#include "cli/help.h"
#include "cli/script_files.h"
#include "cli/tool_options.h"
#include "cli/tool_text.h"
#include "types/table.h"

namespace flowtap {

namespace {

void append_word(std::string& out, std::string_view word) {
  if (!out.empty()) out += ", ";
  out += word;
}

// --- builtins
// -------------------------------------------------------------------------------------
struct Section {
  Fn first;
  std::string_view title;
  std::string_view intro;
};

constexpr Section kSections[] = {
    {Fn::Pid, "Values",
     "They stand without parentheses: `pid`, `comm`. Those with an argument in the table take it "
     "in "
     "parentheses."},
    {Fn::Str, "Strings, memory and names", "They yield a value and change nothing."},
    {Fn::Printf, "Actions", "They print, change maps, or act on the script or the system."},
    {Fn::Count, "Aggregations",
     "Each is the whole right side of an assignment to a map: `@bytes[comm] = sum(args.ret)`. They "
     "are kept per CPU and added up when they are read."},
};

std::string builtin_notes(const Builtin& builtin) {
  std::string notes;
  if (builtin.has(kUnsafe)) append_word(notes, "needs `--unsafe`");
  if (builtin.has(kCompileTime)) append_word(notes, "decided when the script is compiled");
  return notes;
}

std::string columns_table() {
  std::string out =
      "\n## Columns of tables\n\nThe kinds a `table` declares its columns with. The unit becomes "
      "part of the name in JSON and "
      "CSV.\n\n| kind | takes | what is shown | unit |\n|---|---|---|---|\n";
  for (const ColumnKindRow& row : all_column_kinds())
    out += fmt::format("| `{}` | {} | {} | {} |\n", row.word, row.takes, markdown_cell(row.doc),
                       row.unit);
  return out;
}

std::string builtins_page() {
  std::string out =
      "# Builtins and functions\n\n"
      "Written by `flowtap --docs builtins` from the table the compiler uses. "
      "[language.md](language.md) shows them at work;\n"
      "[compatibility.md](compatibility.md) names those that are not available yet.\n";
  for (const Builtin& builtin : all_builtins()) {
    for (const Section& section : kSections)
      if (section.first == builtin.id)
        out +=
            fmt::format("\n## {}\n\n{}\n\n| use | what it gives or does | note |\n|---|---|---|\n",
                        section.title, section.intro);
    out += fmt::format("| `{}` | {} | {} |\n", markdown_cell(builtin.usage),
                       markdown_cell(builtin.doc), builtin_notes(builtin));
  }
  return out + columns_table();
}

// --- probes -------------------------------------------------------------------------------------
std::string context_of(const ProbeRow& row) {
  std::string out;
  if (row.has(kHasArgs)) append_word(out, "`args.name`");
  if (row.has(kHasArgN)) append_word(out, "`arg0`...");
  if (row.has(kHasRetval)) append_word(out, "`retval`");
  if (row.has(kHasFunc)) append_word(out, "`func`");
  return out;
}

std::string_view effect_of_pid(const ProbeRow& row) {
  if (row.has(kAttachesToPid)) return "attached to that process";
  if (row.has(kFilteredByPid)) return "tested in the program";
  return "";
}

std::string aliases_of(const ProbeRow& row) {
  std::string out, word;
  for (char c : std::string(row.aliases) + " ") {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      append_word(out, fmt::format("`{}`", word));
      word.clear();
    }
  }
  return out;
}

std::string events_table(std::string_view title, std::span<const PerfEventName> events) {
  std::string out =
      fmt::format("\n## {}\n\n| event | also | count when none is given |\n|---|---|---|\n", title);
  for (const PerfEventName& event : events)
    out += fmt::format("| `{}` | {} | {} |\n", event.name,
                       event.alias.empty() ? "" : fmt::format("`{}`", event.alias),
                       event.default_period);
  return out;
}

// What is known about kernel functions that old scripts trace.
std::string replacements_table() {
  std::string out =
      "\n## Kernel functions and what to use today\n\n"
      "Functions come and go with the kernel. For these flowtap knows what answers the same "
      "question: it says so when one cannot be traced,\n"
      "and warns of those that can be and see little. The first that the machine has is told.\n\n"
      "| function | what became of it | use |\n|---|---|---|\n";
  for (const Replacement& row : all_replacements()) {
    std::string answers;
    for (const Answer& answer : row.answers)
      if (!answer.probe.empty()) append_word(answers, fmt::format("`{}`", answer.probe));
    out += fmt::format("| `{}` | {} | {} |\n", row.function, row.fate, answers);
  }
  return out;
}

std::string probes_page() {
  std::string out =
      "# Probes\n\n"
      "Written by `flowtap --docs probes` from the table the compiler uses. "
      "[language.md](language.md) shows each kind at work;\n"
      "`flowtap -l` lists what this machine has, and `flowtap -lv` adds the arguments.\n\n"
      "| kind | short | written as | when it runs | offers | with `-p` |\n"
      "|---|---|---|---|---|---|\n";
  for (const ProbeRow& row : all_probe_kinds())
    out += fmt::format("| `{}` | {} | `{}` | {} | {} | {} |\n", row.name, aliases_of(row),
                       markdown_cell(row.forms), markdown_cell(row.doc), context_of(row),
                       effect_of_pid(row));
  return out + events_table("Software events", kSoftwareEvents.names) +
         events_table("Hardware events", kHardwareEvents.names) + replacements_table();
}

}  // namespace

Result<std::string> write_docs(const std::string& subject, const std::string& tool) {
  if (subject == "builtins") return builtins_page();
  if (subject == "probes") return probes_page();
  if (subject == "tools") return tools_page();
  if (subject == "options") return options_page();
  if (subject == "completion") return completion_script();
  if (subject == "man" && tool.empty()) return man_page();
  if (subject == "man") {
    Result<std::optional<ToolFile>> file = find_tool(tool);
    if (!file) return file.error();
    if (const GenericTool* generic = *file ? nullptr : find_generic_tool(tool))
      return tool_man_page(describe_generic(*generic));
    if (!*file) return Error{fmt::format("there is no tool '{}'", tool)};
    Result<ToolAbout> about = describe_tool(**file, parse_tool(**file));
    if (!about) return about.error();
    return tool_man_page(*about);
  }
  return Error{fmt::format("there is no document '{}'", subject), 0,
               "the documents are builtins, probes, tools, options, completion, man and man NAME"};
}

}  // namespace flowtap
