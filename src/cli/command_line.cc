// Reading the command line; see command_line.h. Which options are known changes with the first
// word: after the name of a tool those of the tool come first.

#include "cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/process_tree.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/option_table.h"
#include "cli/option_values.h"
#include "cli/script_files.h"
#include "cli/tool_options.h"
#include "cli/tool_text.h"
#include "compiler/whole_script.h"

namespace flowtap {

namespace {

Error no_such_tool(const std::string& name, const char* what) {
  std::vector<std::string> names;
  for (const ToolFile& tool : all_tools()) names.push_back(tool.name);
  for (const GenericTool* tool : generic_tools()) names.emplace_back(tool->name);
  std::optional<std::string> near = nearest(name, names);
  return Error{fmt::format("{} '{}'", what, name), 0,
               near ? fmt::format("did you mean '{}'?", *near) : "flowtap tools lists them all"};
}

class CommandLine {
 public:
  explicit CommandLine(std::vector<std::string> words) : reader_(std::move(words)) {
    offer(kAlone | kAfterTool);
    offer(*find_option("plot", kPlots));
  }

  Result<Options> parse() {
    while (!reader_.is_at_end() && !is_complete_) {
      Result<OptionItem> item = reader_.next(specs_);
      if (!item) return item.error();
      Status status = item->index ? take_option(*item) : take_word(item->shown);
      if (!status) return status.error();
    }
    if (Status status = finish(); !status) return status.error();
    return std::move(options_);
  }

 private:
  // --- which options there are ---
  void offer(const OptionRow& row) {
    specs_.push_back(row.spec);
    rows_.push_back(&row);
  }
  void offer(unsigned owners) {
    for (const OptionRow& row : option_table())
      if (row.is_of(owners)) offer(row);
  }
  // Options of the tool's own have no setter.
  void offer_own(const OptionSpec& spec) {
    specs_.push_back(spec);
    rows_.push_back(nullptr);
  }
  void start_tool(const std::string& name) {
    specs_.clear();
    rows_.clear();
    reader_.set_owner(name);
  }

  // --- options and words ---
  Status take_option(const OptionItem& item) {
    if (const OptionRow* row = rows_[*item.index]) {
      Result<std::string> value = read_value(row, item);
      if (!value) return value.error();
      if (Status status = row->set(options_, item.shown, *value); !status) return status;
      if (is_tool() && options_.action == Options::Action::Help) answer(tool_help(about_));
      return Done{};
    }
    if (generic_) {
      line_.add(specs_[*item.index], item);
      return Done{};
    }
    return take_script_option(about_.options[*item.index].name, item);
  }

  static Result<std::string> read_value(const OptionRow* row, const OptionItem& item) {
    std::string value = item.value.value_or("");
    return row && row->read ? row->read(value) : Result<std::string>(std::move(value));
  }

  Status take_script_option(const std::string& name, const OptionItem& item) {
    Result<std::string> value = read_value(find_option(name, kScript), item);
    if (!value) return value.error();
    if (name == "follow") options_.follows = true;
    if (name == "pid") followed_ = parse_number(*value);
    options_.named.emplace_back(name, item.value ? std::optional(*value) : std::nullopt);
    return Done{};
  }

  Status take_word(const std::string& word) {
    if (generic_) {
      line_.add_word(word);
      return Done{};
    }
    if (is_tool())
      return Error{fmt::format("{} takes options only, found '{}'", about_.name, word), 0,
                   fmt::format("flowtap help {} shows them", about_.name)};
    if (word == "--") {
      after_ = reader_.take_all();
      return Done{};
    }
    if (may_be_command() && take_command(word)) return Done{};
    if (may_be_command())
      if (Result<bool> is_taken = take_tool(word); !is_taken || *is_taken)
        return is_taken ? Status(Done{}) : is_taken.error();
    words_.push_back(word);
    return Done{};
  }

  bool may_be_command() const {
    bool has_script = options_.program || options_.script == "-" || !words_.empty();
    bool runs =
        options_.action == Options::Action::Run || options_.action == Options::Action::Check;
    return runs && !has_script;
  }
  bool is_tool() const { return generic_ || options_.tool; }

  void answer(std::string text) {
    options_.action = Options::Action::Say;
    options_.search = std::move(text);
    is_complete_ = true;
  }

  // --- the first word ---
  bool take_command(const std::string& word) {
    if (!verb_.empty()) return false;
    bool is_last = reader_.words_left() == 0;
    if (word == "tools" && is_last) {
      answer(tools_list());
    } else if (word == "help" && is_last) {
      answer(help_text());
    } else if (word == "tutorial") {
      options_.action = Options::Action::Tutorial;
      options_.parameters = reader_.take_all();
    } else if (word == "check") {
      options_.action = Options::Action::Check;
      verb_ = word;
    } else if ((word == "help" || word == "source") && !is_last) {
      verb_ = word;
    } else {
      return false;
    }
    return true;
  }

  // Whether it is the name of a tool. One of the user may have the name of a generic one.
  Result<bool> take_tool(const std::string& word) {
    Result<std::optional<ToolFile>> tool = find_tool(word);
    if (!tool) return tool.error();
    if (*tool) {
      if (Status status = take_script_tool(std::move(**tool)); !status) return status.error();
      return true;
    }
    if (const GenericTool* generic = find_generic_tool(word)) {
      take_generic(*generic);
      return true;
    }
    if (verb_ == "help" || verb_ == "source") return no_such_tool(word, "there is no tool");
    return false;
  }

  Status take_script_tool(ToolFile tool) {
    if (verb_ == "source" && !options_.shows_libraries) {
      answer(std::move(tool.text));
      return Done{};
    }
    Script script = parse_tool(tool);
    Result<ToolAbout> about = describe_tool(tool, script);
    if (!about) return about.error();
    about_ = std::move(*about);
    if (verb_ == "source") {
      answer(whole_script(script));
      return Done{};
    }
    if (verb_ == "help") {
      answer(tool_help(about_));
      return Done{};
    }
    options_.tool = std::move(tool);
    options_.parsed_tool = std::move(script);
    start_tool(about_.name);
    for (const ToolOption& option : about_.options) {
      Takes takes = option.takes == Takes::Maybe ? Takes::Maybe : Takes::Text;  // the script checks
      offer_own({option.letter, option.name, takes, option.word, option.doc});
    }
    for (const OptionRow* row : frame_options(about_)) offer(*row);
    offer(kAfterTool);
    return Done{};
  }

  void take_generic(const GenericTool& tool) {
    generic_ = &tool;
    about_ = describe_generic(tool);
    if (verb_ == "help") return answer(tool_help(about_));
    line_.shown = fmt::format("flowtap {}", tool.name);
    start_tool(about_.name);
    for (const OptionSpec& option : tool.options) offer_own(option);
    offer(kAfterTool);
  }

  // --- the end ---
  Status finish() {
    if (is_complete_) return Done{};
    if (!options_.plot_file.empty() && is_tool() && !about_.has_plot)
      return Error{fmt::format("{} has nothing that --plot can draw", about_.name)};
    if (options_.shows_libraries && verb_ != "source")
      return Error{"--all is an option of 'flowtap source'", 0,
                   "flowtap source --all tcplife prints a tool with its libraries"};
    Status status = options_.tool ? finish_tool() : generic_ ? finish_generic() : finish_script();
    if (!status) return status;
    if (options_.warns && options_.no_warnings)
      return Error{"-k and --no-warnings contradict each other"};
    return Done{};
  }

  Status finish_script() {
    size_t next = 0;
    if (options_.action == Options::Action::List) {
      if (next < words_.size()) options_.search = words_[next++];
    } else if (!options_.program && next < words_.size()) {
      options_.script = words_[next++];
    }
    for (; next < words_.size(); next++) options_.parameters.push_back(words_[next]);
    for (const std::string& word : after_)
      if (Status status = take_named(word); !status) return status;
    if (options_.pid && options_.command) return Error{"-p and -c cannot be used together"};
    return check_script();
  }

  // --name=value or --name, after "--".
  Status take_named(const std::string& word) {
    if (!word.starts_with("--")) {
      options_.parameters.push_back(word);
      return Done{};
    }
    size_t equal = word.find('=');
    if (equal == std::string::npos) {
      options_.named.emplace_back(word.substr(2), std::nullopt);
      return Done{};
    }
    options_.named.emplace_back(word.substr(2, equal - 2), word.substr(equal + 1));
    return given_.take(word.substr(0, equal), word.substr(equal + 1));
  }

  Status check_script() const {
    bool runs = options_.action == Options::Action::Run;
    bool may_run = runs || options_.action == Options::Action::Check;
    const std::string& name = options_.script;
    if (options_.program || !may_run) return Done{};
    if (runs && name.empty())
      return Error{"no script given", 0,
                   "give a file name or -e 'script'; --help shows all options"};
    bool is_word = !name.empty() && name.find_first_of("./") == std::string::npos && name != "-";
    if (is_word && !is_file(name)) return no_such_tool(name, "there is neither a file nor a tool");
    return Done{};
  }

  Status finish_tool() {
    if (Status status = follow(); !status) return status;
    // Points of a picture are rows, and cells are histograms: a tool that can show them does.
    for (const ToolOption& option : about_.options)
      if (!options_.plot_file.empty() && (option.name == "each" || option.name == "hist"))
        options_.named.emplace_back(option.name, std::nullopt);
    if (options_.count) {
      int64_t interval = options_.interval ? options_.interval : about_.interval.value_or(0);
      if (!interval)
        return Error{"--count is a number of reports", 0, "say how often: --interval 1"};
      int64_t all = interval * options_.count;
      options_.duration = options_.duration ? std::min(options_.duration, all) : all;
    }
    options_.is_quiet = options_.verbose == 0;
    return Done{};
  }

  // The processes to follow are kept in a map: the one of -p, its descendants, and what they fork.
  // A script that filters by owner reads the same map.
  Status follow() {
    if (!options_.follows) return Done{};
    if (options_.pid) followed_ = *options_.pid;
    if (!followed_) return Error{"--follow needs a process to start from", 0, "give it with -p"};
    std::string& added = options_.added;
    added += "begin { ";
    for (pid_t pid : process_tree(static_cast<pid_t>(*followed_)))
      added += fmt::format("@followed[(uint32){}] = true; ", pid);
    added +=
        "}\n"
        "rawtracepoint:sched_process_fork /has_key(@followed, (uint32)args.parent.tgid)/ {\n"
        "  @followed[(uint32)args.child.tgid] = true;\n"
        "}\n"
        // Not when it ends: its sockets are closed after that.
        "rawtracepoint:sched_process_free /args.p.pid == args.p.tgid/ {\n"
        "  delete(@followed, (uint32)args.p.tgid);\n"
        "}\n"
        "end { clear(@followed); }\n";
    if (options_.pid) options_.add_filter("has_key(@followed, pid)");
    options_.pid.reset();
    return Done{};
  }

  Status finish_generic() {
    Result<GenericScript> script = generic_->write(line_);
    if (!script) return script.error();
    if (verb_ == "source") {
      answer(std::move(script->text));
      return Done{};
    }
    if (!script->probe_filter.empty() && !options_.probe_filter.empty())
      return Error{"--probe-filter and -r cannot be used together"};
    if (!script->probe_filter.empty())
      if (Status status = set_probe_filter(options_, "-r", script->probe_filter); !status)
        return status;
    options_.tool = ToolFile{
        .name = about_.name, .path = about_.name, .text = std::move(script->text), .folder = ""};
    if (line_.has("pid")) options_.pid = static_cast<int>(line_.number("pid"));
    options_.duration = script->duration;
    options_.is_quiet = options_.verbose == 0;
    return Done{};
  }

  OptionReader reader_;
  std::vector<OptionSpec> specs_;       // what is known now
  std::vector<const OptionRow*> rows_;  // of the same number; null for one of the tool's own
  Options options_;
  std::string verb_;                // check, help, source
  bool is_complete_ = false;        // the rest does not matter
  std::vector<std::string> words_;  // script and parameters
  std::vector<std::string> after_;  // after "--"
  GivenOnce given_;
  ToolAbout about_;  // of the tool, if it is one
  const GenericTool* generic_ = nullptr;
  GenericLine line_;
  std::optional<int64_t> followed_;  // the process that --follow starts from
};

}  // namespace

Result<Options> parse_command(std::vector<std::string> words) {
  return CommandLine(std::move(words)).parse();
}

}  // namespace flowtap
