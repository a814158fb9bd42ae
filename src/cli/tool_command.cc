// A tool's command line becomes the command line of its script: flowtap's own options go to
// parse_options(), the tool's are what its getopt() calls ask for, and those of the frame become
// code that is compiled with the script. Way in: parse_command().

#include "cli/tool_command.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <deque>

#include "base/given_once.h"
#include "base/process_tree.h"
#include "base/text.h"
#include "cli/generic_command.h"
#include "cli/own_options.h"
#include "cli/script.h"
#include "cli/tool_about.h"
#include "cli/tool_text.h"
#include "plot/plot_check.h"

namespace flowtap {

namespace {

Options say(std::string text) {
  Options options;
  options.action = Options::Action::Say;
  options.search = std::move(text);
  return options;
}

Error no_such_tool(const std::string& name) {
  std::vector<std::string> names;
  for (const ToolFile& tool : all_tools()) names.push_back(tool.name);
  for (const GenericTool* tool : generic_tools()) names.emplace_back(tool->name);
  std::optional<std::string> near = nearest(name, names);
  return Error{fmt::format("there is no tool '{}'", name), 0,
               near ? fmt::format("did you mean '{}'?", *near) : "flowtap tools lists them all"};
}

Result<ToolFile> need_tool(const std::string& name) {
  Result<std::optional<ToolFile>> tool = find_tool(name);
  if (!tool.ok()) return tool.error();
  if (!*tool) return no_such_tool(name);
  return **tool;
}

// The kernel's number of a network namespace, which is the inode of its file.
Result<uint64_t> namespace_number(const std::string& text) {
  bool is_pid = parse_number(text).has_value();
  bool is_path = text.find('/') != std::string::npos;
  std::string path = is_pid    ? fmt::format("/proc/{}/ns/net", text)
                     : is_path ? text
                               : "/run/netns/" + text;
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return errno_error(fmt::format("cannot find the network namespace '{}'", text),
                       "give a process id, a name that 'ip netns' lists, or a file");
  return static_cast<uint64_t>(info.st_ino);
}

// The kernel's number of a cgroup, which is the inode of its directory.
Result<uint64_t> cgroup_number(const std::string& path) {
  struct stat info;
  struct statfs system;
  const char* hint = "give its directory, e.g. /sys/fs/cgroup/system.slice";
  if (::stat(path.c_str(), &info) != 0 || ::statfs(path.c_str(), &system) != 0)
    return errno_error(fmt::format("cannot find the cgroup '{}'", path), hint);
  if (system.f_type != CGROUP2_SUPER_MAGIC)
    return Error{fmt::format("'{}' is not a directory of cgroup v2", path), 0, hint};
  return static_cast<uint64_t>(info.st_ino);
}

class ToolLine {
 public:
  ToolLine(const ToolFile& tool, const ToolAbout& about, std::vector<std::string> words)
      : tool_(tool), about_(about), words_(words.begin(), words.end()) {}

  Result<Options> parse() {
    while (!words_.empty()) {
      std::string word = take();
      if (word == "-h" || word == "--help") return say(tool_help(about_));
      if (Status status = take_option(word); !status.ok()) return status.error();
    }
    if (Status status = follow(); !status.ok()) return status.error();
    // Points of a picture are rows, and cells are histograms: a tool that can show them does.
    for (const ToolOption& option : about_.options)
      if (!plot_file_.empty() && (option.name == "each" || option.name == "hist"))
        named_.emplace_back(option.name, std::nullopt);
    own_.push_back(tool_.name);
    std::vector<char*> argv;
    for (std::string& word : own_) argv.push_back(word.data());
    Result<Options> options = parse_options(static_cast<int>(argv.size()), argv.data());
    if (!options.ok()) return options.error();
    options->tool = tool_;
    options->named = std::move(named_);
    options->pid = pid_;
    options->interval = interval_;
    options->duration = duration_;
    options->has_times = has_times_;
    options->plot_file = plot_file_;
    options->plot = parse_plot(about_.head.plot);
    if (!plot_file_.empty() && !options->plot)
      return Error{fmt::format("--plot cannot draw '{}'", about_.head.plot), 0,
                   fmt::format("the PLOT line of tool '{}' has an error", tool_.name)};
    if (count_) {
      int64_t interval = interval_ ? interval_ : about_.interval.value_or(0);
      if (!interval)
        return Error{"--count is a number of reports", 0, "say how often: --interval 1"};
      int64_t all = interval * count_;
      options->duration = duration_ ? std::min(duration_, all) : all;
    }
    options->added = std::move(added_);
    options->filter = std::move(filter_);
    options->is_quiet = options->verbose == 0;
    return options;
  }

 private:
  std::string take() {
    std::string word = std::move(words_.front());
    words_.pop_front();
    return word;
  }

  // --name, --name=value, -x, -xvalue: the option and the value that is stuck to it.
  const ToolOption* find(const std::string& word, std::optional<std::string>& value) const {
    bool is_long = word.starts_with("--");
    size_t equal = is_long ? word.find('=') : std::string::npos;
    std::string name =
        is_long ? word.substr(2, equal == std::string::npos ? equal : equal - 2) : "";
    if (equal != std::string::npos) value = word.substr(equal + 1);
    bool is_letter = !is_long && word.size() >= 2 && word[0] == '-';
    for (const ToolOption& option : about_.options) {
      if (is_long && option.name == name) return &option;
      if (!is_letter || !option.letter || word[1] != option.letter) continue;
      if (word.size() > 2) value = word.substr(2);
      return &option;
    }
    return nullptr;
  }

  Status take_option(const std::string& word) {
    std::optional<std::string> value;
    if (const ToolOption* option = find(word, value)) {
      bool needs_value = option->value != OptionValue::Flag;
      if (needs_value && !value) {
        if (words_.empty())
          return Error{fmt::format("option '{}' of {} needs a value", word, tool_.name)};
        value = take();
      }
      if (needs_value)
        if (Status status = given_.take("--" + option->name, *value); !status.ok()) return status;
      if (option->is_of_frame) return take_frame_option(*option, value.value_or(""));
      if (option->name == "netns" || option->name == "cgroup") {
        Result<uint64_t> number =
            option->name == "netns" ? namespace_number(*value) : cgroup_number(*value);
        if (!number.ok()) return number.error();
        value = std::to_string(*number);
      }
      if (option->name == "follow") is_following_ = true;
      if (option->name == "pid") followed_ = parse_number(*value);
      named_.emplace_back(option->name, std::move(value));
      return Done{};
    }
    size_t length = own_length(word);
    if (length == 0) return unknown(word);
    own_.push_back(word);
    if (length == 2 && !words_.empty()) own_.push_back(take());
    return Done{};
  }

  Error unknown(const std::string& word) const {
    if (!word.starts_with("-"))
      return Error{fmt::format("{} takes options only, found '{}'", tool_.name, word), 0,
                   fmt::format("flowtap help {} shows them", tool_.name)};
    std::vector<std::string> names;
    for (const ToolOption& option : about_.options) names.push_back("--" + option.name);
    std::optional<std::string> near = nearest(word.substr(0, word.find('=')), names);
    return Error{fmt::format("{} has no option '{}'", tool_.name, word), 0,
                 near ? fmt::format("did you mean '{}'?", *near)
                      : fmt::format("flowtap help {} shows its options", tool_.name)};
  }

  Status take_frame_option(const ToolOption& option, const std::string& value) {
    if (option.value == OptionValue::Number) {
      std::optional<int64_t> number = parse_number(value);
      if (!number || *number < 1)
        return Error{
            fmt::format("--{} takes a positive whole number, found '{}'", option.name, value)};
      if (option.name == "pid") pid_ = static_cast<int>(*number);
      if (option.name == "interval") interval_ = *number;
      if (option.name == "count") count_ = *number;
      if (option.name == "duration") duration_ = *number;
      return Done{};
    }
    if (option.value == OptionValue::Flag) {
      (option.name == "follow" ? is_following_ : has_times_) = true;
      return Done{};
    }
    if (option.name == "plot") {
      plot_file_ = value;
      return check_plot_file(value);
    }
    if (option.name == "cgroup") {
      Result<uint64_t> number = cgroup_number(value);
      if (!number.ok()) return number.error();
      add_filter(fmt::format("cgroup == {}", *number));
      return Done{};
    }
    if (value.find_first_of("\"\\\n") != std::string::npos)
      return Error{fmt::format("--{} cannot take '{}'", option.name, value)};
    add_filter(fmt::format("comm == \"{}\"", value));
    return Done{};
  }

  // The processes to follow are kept in a map: the one of -p, its descendants, and what they fork.
  // A script that filters by owner reads the same map.
  Status follow() {
    if (!is_following_) return Done{};
    if (pid_) followed_ = *pid_;
    if (!followed_) return Error{"--follow needs a process to start from", 0, "give it with -p"};
    added_ += "begin { ";
    for (pid_t pid : process_tree(static_cast<pid_t>(*followed_)))
      added_ += fmt::format("@followed[(uint32){}] = true; ", pid);
    added_ +=
        "}\n"
        "rawtracepoint:sched_process_fork /has_key(@followed, (uint32)args.parent.tgid)/ {\n"
        "  @followed[(uint32)args.child.tgid] = true;\n"
        "}\n"
        // Not when it ends: its sockets are closed after that.
        "rawtracepoint:sched_process_free /args.p.pid == args.p.tgid/ {\n"
        "  delete(@followed, (uint32)args.p.tgid);\n"
        "}\n"
        "end { clear(@followed); }\n";
    if (pid_) add_filter("has_key(@followed, pid)");
    pid_.reset();
    return Done{};
  }

  void add_filter(const std::string& condition) {
    if (!filter_.empty()) filter_ += " && ";
    filter_ += condition;
  }

  const ToolFile& tool_;
  const ToolAbout& about_;
  std::deque<std::string> words_;
  std::vector<std::string> own_ = {"flowtap"};
  std::vector<std::pair<std::string, std::optional<std::string>>> named_;
  std::optional<int> pid_;
  int64_t interval_ = 0;
  int64_t count_ = 0;
  int64_t duration_ = 0;
  bool has_times_ = false;
  std::string plot_file_;
  bool is_following_ = false;
  GivenOnce given_;
  std::optional<int64_t> followed_;  // the process that --follow starts from
  std::string added_;
  std::string filter_;
};

// `flowtap check tcplife`: the script is a tool after all.
Result<Options> with_tool(Options options) {
  bool may_be_tool =
      options.action == Options::Action::Run || options.action == Options::Action::Check;
  if (!may_be_tool || options.program || options.script.empty() || is_file(options.script))
    return options;
  Result<std::optional<ToolFile>> tool = find_tool(options.script);
  if (!tool.ok()) return tool.error();
  options.tool = std::move(*tool);
  bool is_word = options.script.find_first_of("./") == std::string::npos && options.script != "-";
  if (!options.tool && is_word) {
    Error error = no_such_tool(options.script);
    error.what = fmt::format("there is neither a file nor a tool '{}'", options.script);
    return error;
  }
  if (options.tool) options.is_quiet |= options.verbose == 0;
  return options;
}

}  // namespace

// flowtap help|source|check funccount ..., flowtap funccount ...; nothing when it is about no
// generic tool. A tool of the user may have the name of one.
static std::optional<Result<Options>> parse_generic(const std::vector<std::string>& words,
                                                    size_t at) {
  bool is_question = words[at] == "help" || words[at] == "source" || words[at] == "check";
  std::string verb = is_question ? words[at] : "";
  size_t name_at = is_question ? at + 1 : at;
  if (name_at >= words.size()) return std::nullopt;
  const GenericTool* tool = find_generic_tool(words[name_at]);
  Result<std::optional<ToolFile>> own = find_tool(words[name_at]);
  if (!tool || !own.ok() || *own) return std::nullopt;
  if (verb == "help") return say(tool_help(describe_generic(*tool)));
  auto from = words.begin() + static_cast<std::ptrdiff_t>(at);
  std::vector<std::string> before(words.begin(), from);
  std::vector<std::string> behind(from + (is_question ? 2 : 1), words.end());
  bool asks_help = std::find(behind.begin(), behind.end(), "-h") != behind.end() ||
                   std::find(behind.begin(), behind.end(), "--help") != behind.end();
  if (asks_help) return say(tool_help(describe_generic(*tool)));
  Result<Options> options = parse_generic_command(*tool, std::move(before), behind);
  if (!options.ok()) return options;
  if (verb == "source") return say(options->tool->text);
  if (verb == "check") options->action = Options::Action::Check;
  return options;
}

Result<Options> parse_command(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  size_t at = 0;  // of the first word that is no option: -f json tcplife
  while (at < words.size() && own_length(words[at])) at += own_length(words[at]);
  if (at >= words.size()) return parse_options(argc, argv);
  const std::string first = words[at];
  std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  if (first == "tools" && rest.empty()) return say(tools_list());
  if (first == "tutorial") {
    Options options;
    options.action = Options::Action::Tutorial;
    options.parameters = std::move(rest);
    return options;
  }
  if (first == "help" && rest.empty()) return say(help_text());
  if (std::optional<Result<Options>> generic = parse_generic(words, at)) return std::move(*generic);
  if ((first == "help" || first == "source") && rest.size() == 1) {
    Result<ToolFile> tool = need_tool(rest[0]);
    if (!tool.ok()) return tool.error();
    if (first == "source") return say(tool->text);
    Result<ToolAbout> about = describe_tool(*tool, parse_tool(*tool));
    if (!about.ok()) return about.error();
    return say(tool_help(*about));
  }
  Result<std::optional<ToolFile>> tool = find_tool(first);
  if (!tool.ok()) return tool.error();
  if (*tool) {
    Script script = parse_tool(**tool);
    Result<ToolAbout> about = describe_tool(**tool, script);
    if (!about.ok()) return about.error();
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
    Result<Options> options = ToolLine(**tool, *about, std::move(words)).parse();
    if (options.ok()) options->parsed_tool = std::move(script);
    return options;
  }
  Result<Options> options = parse_options(argc, argv);
  if (!options.ok()) return options.error();
  return with_tool(std::move(*options));
}

}  // namespace flowtap
