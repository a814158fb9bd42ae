// Help, man page and completion; see help.h.

#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/option_table.h"
#include "cli/script_files.h"
#include "cli/tool_options.h"

namespace flowtap {

std::string filled(const std::string& text, size_t width) {
  std::string out;
  size_t column = 0;
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    if (column > 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      column++;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

// The right column is filled to 100 columns, where that leaves it room.
std::string two_columns(const std::vector<TextPair>& rows) {
  size_t width = 0;
  for (const TextPair& row : rows) width = std::max(width, row.left.size());
  size_t room = width < 60 ? 96 - width : 40;
  std::string out;
  for (const TextPair& row : rows) {
    std::string left = row.left;
    for (const std::string& line : split(trim(filled(row.right, room)), '\n'))
      out += fmt::format("  {:<{}}  {}\n", std::exchange(left, {}), width, line);
  }
  return out;
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

// A '-' alone may be set as a hyphen, and a '.' or '\'' at the start of a line is a request.
std::string roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool is_start = out.empty() || out.back() == '\n';
    if (is_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '-') out += '\\';
    if (c == '\\')
      out += "\\e";
    else
      out += c;
  }
  return out;
}

std::string man_terms(const std::vector<TextPair>& rows) {
  std::string out;
  for (const TextPair& row : rows)
    out += fmt::format(".TP\n.B {}\n{}\n", roff(row.left), roff(row.right));
  return out;
}

namespace {

struct Form {
  std::string_view words, meaning;
};
constexpr Form kForms[] = {
    {"[options] SCRIPT [parameters] [-- --option=value...]", "run a script"},
    {"[options] -e 'script' [parameters]", "run script text"},
    {"[options] NAME [the tool's options]", "run a tool; 'flowtap tools' lists them"},
    {"-l [PATTERN]", "list what can be traced"},
    {"check [SCRIPT|NAME]", "print what this kernel permits, and which plans of a script work"},
    {"help NAME",
     "describe a tool; 'flowtap source [--all] NAME' prints its script [with its libraries]"},
    {"tutorial [N]", "twelve short lessons that run by themselves"},
};

constexpr const char* kExamples =
    "  flowtap -e 'tracepoint:syscalls:sys_enter_openat { printf(\"%s %s\\n\", comm, "
    "str(args.filename)); }'\n"
    "  flowtap -e 'tracepoint:block:block_rq_issue { @[args.comm] = hist(args.bytes); }'\n"
    "  flowtap -f json tcplife --port 443\n";

constexpr const char* kExitCodes =
    "0 success, 1 error in the script, 2 usage error, 3 refused by the kernel or missing "
    "privileges, 4 internal error; a script's exit(n) gives n";

std::vector<TextPair> own_options() {
  std::vector<TextPair> rows;
  for (const OptionRow& row : option_table())
    if (row.is_of(kAlone) && !row.is_of(kNotInHelp))
      rows.push_back({spelling(row.spec), std::string(row.spec.doc)});
  return rows;
}

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string& line : split(trim(filled(text, 96)), '\n')) out += "  " + line + "\n";
  return out;
}

}  // namespace

std::string help_text() {
  std::string out = "flowtap: traces network and disk I/O with the bpftrace language\n\nusage:\n";
  std::vector<TextPair> forms;
  for (const Form& form : kForms)
    forms.push_back({fmt::format("flowtap {}", form.words), std::string(form.meaning)});
  out += two_columns(forms) + "\noptions:\n" + two_columns(own_options());
  out += "\nfeatures for --no-feature:\n" + indented(optional_features());
  return out + fmt::format("\nexamples:\n{}\nexit codes:\n{}", kExamples, indented(kExitCodes));
}

std::string options_page() {
  std::string out =
      "# Options\n\n"
      "Written by `flowtap --docs options` from the table that reads the command line. Letters may "
      "be combined (`-qv`), a value may follow its letter\n(`-fjson`) or its name "
      "(`--format=json`), and names of flowtap's own options may be cut short while they are "
      "unique.\n\n## flowtap\n\nOptions go before or after the script. After the name of a tool, "
      "the tool's own options win.\n\n| option | meaning | with tools |\n|---|---|---|\n";
  for (const OptionRow& row : option_table())
    if (row.is_of(kAlone) && !row.is_of(kNotInHelp))
      out += fmt::format("| `{}` | {} | {} |\n", markdown_cell(spelling(row.spec)),
                         markdown_cell(row.spec.doc),
                         row.is_of(kAfterTool) ? "also after the name" : "before the name");
  out += fmt::format("\nFeatures for `--no-feature`: {}.\n", optional_features());
  out +=
      "\n## Tools\n\nOptions that mean the same in every tool that has them. `flowtap help NAME` "
      "lists those of a tool.\n\n| option | meaning | tools |\n|---|---|---|\n";
  for (const OptionRow& row : option_table()) {
    if (row.is_of(kAlone)) continue;
    const char* who = row.is_of(kEveryTool) ? "all"
                      : row.is_of(kReports) ? "that report"
                      : row.is_of(kPlots)   ? "that can be drawn"
                      : row.is_of(kProcess) ? "that know the process"
                                            : "that ask for it";
    out += fmt::format("| `{}` | {} | {} |\n", markdown_cell(spelling(row.spec)),
                       markdown_cell(row.spec.doc), who);
  }
  return out;
}

std::string man_page() {
  std::string out = fmt::format(
      ".TH FLOWTAP 1 \"\" \"flowtap {}\"\n.SH NAME\nflowtap \\- trace network and disk I/O with "
      "the "
      "bpftrace language\n.SH SYNOPSIS\n",
      FLOWTAP_VERSION);
  for (const Form& form : kForms)
    out += fmt::format(".TP\n.B flowtap {}\n{}\n", roff(form.words), roff(form.meaning));
  return out + ".SH OPTIONS\n" + man_terms(own_options()) + ".SH EXIT STATUS\n" + roff(kExitCodes) +
         "\n";
}

// --- completion ----------------------------------------------------------------------------------
namespace {

void append_words(std::string& out, const OptionSpec& option) {
  if (option.letter) out += fmt::format(" -{}", option.letter);
  if (!option.name.empty()) out += fmt::format(" --{}", option.name);
}

std::string words_of(const ToolAbout& tool) {
  std::string out;
  for (const ToolOption& option : tool.options)
    append_words(out, {option.letter, option.name, option.takes, "", ""});
  for (const OptionRow* row : frame_options(tool)) append_words(out, row->spec);
  return out;
}

}  // namespace

std::string completion_script() {
  std::string own, shared, tools, cases;
  for (const OptionRow& row : option_table()) {
    if (row.is_of(kNotInHelp)) continue;
    if (row.is_of(kAlone)) append_words(own, row.spec);
    if (row.is_of(kAfterTool)) append_words(shared, row.spec);
  }
  auto add = [&](const ToolAbout& about) {
    tools += " " + about.name;
    cases += fmt::format("      {}) words=\"{}$shared\" ;;\n", about.name,
                         words_of(about).substr(1) + " ");
  };
  for (const ToolFile& tool : all_tools())
    if (Result<ToolAbout> about = describe_tool(tool, parse_tool(tool));
        tool.folder.empty() && about)
      add(*about);
  for (const GenericTool* tool : generic_tools()) add(describe_generic(*tool));
  return fmt::format(
      "# Completion for bash: flowtap --docs completion > "
      "/usr/share/bash-completion/completions/flowtap\n"
      "_flowtap() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} words=\"{0}\" shared=\"{1}\" tools=\"{2}\" "
      "before\n"
      "  for before in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case $before in\n{3}    esac\n"
      "  done\n"
      "  if [[ $word != -* ]]; then words=\"check help source tools tutorial $tools\"; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}}\n"
      "complete -o default -F _flowtap flowtap\n",
      own.substr(1), shared.substr(1), tools.substr(1), cases);
}

}  // namespace flowtap
