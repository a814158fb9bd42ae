// Generic tools on the command line; see generic_command.h.

#include "cli/generic_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/own_options.h"

namespace flowtap {

static const GenericOption* find_option(const GenericTool& tool, std::string_view word) {
  bool is_long = word.starts_with("--");
  std::string_view name = word.substr(0, word.find('=')).substr(is_long ? 2 : 0);
  for (const GenericOption& option : tool.options)
    if (is_long ? option.name == name : word.size() > 1 && option.letter == word[1]) return &option;
  return nullptr;
}

ToolAbout describe_generic(const GenericTool& tool) {
  ToolAbout about{.name = std::string(tool.name)};
  about.usage = tool.usage;
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
  for (const GenericOption& option : tool.options)
    about.options.push_back({.name = std::string(option.name),
                             .letter = option.letter,
                             .value = !takes_value(option.takes)    ? OptionValue::Flag
                                      : option.takes == Takes::Text ? OptionValue::Text
                                                                    : OptionValue::Number,
                             .word = std::string(option.word),
                             .doc = std::string(option.doc)});
  return about;
}

Result<Options> parse_generic_command(const GenericTool& tool, std::vector<std::string> before,
                                      const std::vector<std::string>& behind) {
  std::vector<std::string> own = std::move(before), words;
  for (size_t i = 0; i < behind.size(); i++) {
    const std::string& word = behind[i];
    const GenericOption* option = word.starts_with("-") ? find_option(tool, word) : nullptr;
    size_t length = option ? 0 : own_length(word);
    std::vector<std::string>& to = length ? own : words;
    to.push_back(word);
    bool has_value = option && takes_value(option->takes);
    bool is_apart = word.starts_with("--") ? word.find('=') == word.npos : word.size() == 2;
    bool has_more = length == 2 || (has_value && is_apart);
    if (has_more && i + 1 < behind.size()) to.push_back(behind[++i]);
  }
  Result<GenericLine> line = parse_generic_line(tool, words);
  if (!line.ok()) return line.error();
  Result<GenericScript> script = tool.write(*line);
  if (!script.ok()) return script.error();

  own.insert(own.begin(), "flowtap");
  if (!script->probe_filter.empty()) own.push_back("--probe-filter=" + script->probe_filter);
  own.emplace_back(tool.name);
  std::vector<char*> argv;
  argv.reserve(own.size());
  for (std::string& word : own) argv.push_back(word.data());
  Result<Options> options = parse_options(static_cast<int>(argv.size()), argv.data());
  if (!options.ok()) return options.error();
  std::string name(tool.name);
  options->tool =
      ToolFile{.name = name, .path = name, .text = std::move(script->text), .folder = ""};
  if (line->has("pid")) options->pid = static_cast<int>(line->number("pid"));
  options->duration = script->duration;
  options->is_quiet = options->verbose == 0;
  return options;
}

}  // namespace flowtap
