// The command line; see options.h. getopt_long because it permutes arguments the way people
// who come from bpftrace expect.

#include "cli/options.h"

#include <fmt/format.h>
#include <getopt.h>
#include <regex.h>

#include <algorithm>

#include "base/given_once.h"
#include "base/text.h"

namespace flowtap {

namespace {

enum LongOnly {
  kInfo = 1000,
  kUnsafe,
  kDryRun,
  kNoWarnings,
  kStats,
  kProbeFilter,
  kMaxKeys,
  kDwarfPid,
  kPlan,
  kNoFeature,
  kTest,
  kBench,
  kMode,
  kTarget,
  kDocs,
  kUsdtFileActivation
};

const option kLong[] = {{"list", no_argument, nullptr, 'l'},
                        {"verbose", no_argument, nullptr, 'v'},
                        {"help", no_argument, nullptr, 'h'},
                        {"version", no_argument, nullptr, 'V'},
                        {"info", no_argument, nullptr, kInfo},
                        {"pid", required_argument, nullptr, 'p'},
                        {"cmd", required_argument, nullptr, 'c'},
                        {"output", required_argument, nullptr, 'o'},
                        {"format", required_argument, nullptr, 'f'},
                        {"quiet", no_argument, nullptr, 'q'},
                        {"warnings", no_argument, nullptr, 'k'},
                        {"unsafe", no_argument, nullptr, kUnsafe},
                        {"dry-run", no_argument, nullptr, kDryRun},
                        {"no-warnings", no_argument, nullptr, kNoWarnings},
                        {"stats", no_argument, nullptr, kStats},
                        {"probe-filter", required_argument, nullptr, kProbeFilter},
                        {"max-keys", required_argument, nullptr, kMaxKeys},
                        {"dwarf-pid", required_argument, nullptr, kDwarfPid},
                        {"plan", required_argument, nullptr, kPlan},
                        {"test", no_argument, nullptr, kTest},
                        {"bench", no_argument, nullptr, kBench},
                        {"mode", required_argument, nullptr, kMode},
                        {"target", required_argument, nullptr, kTarget},
                        {"docs", required_argument, nullptr, kDocs},
                        {"debug", required_argument, nullptr, 'd'},
                        {"dump", required_argument, nullptr, 'd'},
                        {"btf", no_argument, nullptr, 'b'},
                        {"usdt-file-activation", no_argument, nullptr, kUsdtFileActivation},
                        {"include", required_argument, nullptr, 'I'},
                        {"no-feature", required_argument, nullptr, kNoFeature},
                        {nullptr, 0, nullptr, 0}};

constexpr const char* kStages[] = {"all", "ast", "types", "ir", "bpf", "maps"};

Status set_dump(Options& options, const std::string& text) {
  for (const std::string& stage : split(text, ',')) {
    bool known = std::any_of(std::begin(kStages), std::end(kStages),
                             [&](const char* name) { return stage == name; });
    if (!known)
      return Error{fmt::format("'{}' is not a stage", stage), 0,
                   "the stages are ast, types, ir, bpf, maps and all"};
    options.dump.push_back(stage);
  }
  return Done{};
}

Status set_buffering(Options& options, const std::string& text) {
  if (text == "line")
    options.buffering = Buffering::Line;
  else if (text == "full")
    options.buffering = Buffering::Full;
  else if (text == "none")
    options.buffering = Buffering::None;
  else
    return Error{fmt::format("-B takes 'line', 'full' or 'none', found '{}'", text)};
  return Done{};
}

Status set_format(Options& options, const std::string& text) {
  if (text == "text")
    options.format = Format::Text;
  else if (text == "json")
    options.format = Format::Json;
  else if (text == "csv")
    options.format = Format::Csv;
  else
    return Error{fmt::format("there is no output format '{}'", text), 0,
                 "the formats are text, json and csv"};
  return Done{};
}

Result<int> parse_pid(const char* option, const std::string& text) {
  std::optional<int64_t> pid = parse_number(text);
  if (!pid || *pid < 1 || *pid > 0x400000)
    return Error{fmt::format("{} takes a process id, found '{}'", option, text)};
  return static_cast<int>(*pid);
}

Status set_pid(Options& options, const std::string& text) {
  Result<int> pid = parse_pid("-p", text);
  if (!pid) return pid.error();
  options.pid = *pid;
  return Done{};
}

Status add_dwarf_pid(Options& options, const std::string& text) {
  Result<int> pid = parse_pid("--dwarf-pid", text);
  if (!pid) return pid.error();
  options.dwarf_pids.push_back(*pid);
  return Done{};
}

Status set_max_keys(Options& options, const std::string& text) {
  std::optional<int64_t> number = parse_number(text);
  if (!number || *number < 1 || *number > UINT32_MAX)
    return Error{fmt::format("--max-keys takes a positive whole number, found '{}'", text)};
  options.max_keys = static_cast<uint64_t>(*number);
  return Done{};
}

Status set_probe_filter(Options& options, const std::string& text) {
  regex_t compiled;
  if (::regcomp(&compiled, text.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    return Error{fmt::format("'{}' is not a regular expression", text)};
  ::regfree(&compiled);
  options.probe_filter = text;
  return Done{};
}

constexpr const char* kFeatures[] = {
    "kprobe_as_fentry", "kprobe",       "fentry",        "kprobe_multi",
    "uprobe_multi",     "direct_reads", "comm_in_place", "pid_in_place",
    "small_maps",       "hashed_keys",  "small_ring",    "cpu_lanes",
    "hot_keys",         "task_storage", "stored_zeros",  "lazy_types"};

Status set_no_feature(Options& options, const std::string& text) {
  for (const std::string& feature : split(text, ',')) {
    if (std::find(std::begin(kFeatures), std::end(kFeatures), feature) == std::end(kFeatures))
      return Error{fmt::format("'{}' is not a feature that can be left unused", feature), 0,
                   fmt::format("the features are {}", fmt::join(kFeatures, ", "))};
    options.unused_features.push_back(feature);
  }
  return Done{};
}

Status set_mode(Options& options, const std::string& text) {
  if (text != "test" && text != "bench")
    return Error{fmt::format("there is no mode '{}'", text), 0, "the modes are test and bench"};
  Mode mode = text == "test" ? Mode::Test : Mode::Bench;
  if (options.mode != Mode::Trace && options.mode != mode)
    return Error{"--test and --bench cannot be used together"};
  options.mode = mode;
  return Done{};
}

// bpftrace's options for what flowtap always does, or never has to.
const char* why_without_effect(int letter) {
  switch (letter) {
    case 'b': return "-b has no effect: BTF is used where the kernel has it";
    case 'I': return "-I has no effect: headers are not read, types come from BTF";
    default: return "--usdt-file-activation has no effect: the kernel sets semaphores by file";
  }
}

Status apply(Options& options, int letter, const std::string& value) {
  switch (letter) {
    case 'e': options.program = value; break;
    case 'l': options.action = Options::Action::List; break;
    case 'v': options.verbose++; break;
    case 'h': options.action = Options::Action::Help; break;
    case 'V': options.action = Options::Action::Version; break;
    case kInfo: options.action = Options::Action::Info; break;
    case 'p': return set_pid(options, value);
    case 'c': options.command = value; break;
    case 'o': options.output = value; break;
    case 'f': return set_format(options, value);
    case 'B': return set_buffering(options, value);
    case 'q': options.is_quiet = true; break;
    case 'k': options.warns = true; break;
    case kUnsafe: options.is_unsafe = true; break;
    case kDryRun: options.is_dry_run = true; break;
    case kNoWarnings: options.no_warnings = true; break;
    case kStats: options.shows_stats = true; break;
    case kProbeFilter: return set_probe_filter(options, value);
    case kDwarfPid: return add_dwarf_pid(options, value);
    case kMaxKeys: return set_max_keys(options, value);
    case kPlan: options.plan = value; break;
    case kNoFeature: return set_no_feature(options, value);
    case kTest: return set_mode(options, "test");
    case kBench: return set_mode(options, "bench");
    case kMode: return set_mode(options, value);
    case kTarget: options.target_file = value; break;
    case kDocs:
      options.action = Options::Action::Docs;
      options.search = value;
      break;
    case 'd': return set_dump(options, value);
    default: options.without_effect.emplace_back(why_without_effect(letter)); break;
  }
  return Done{};
}

// Those with a value that may be given again: each adds one, or nothing is done with them.
bool may_be_repeated(int letter) {
  return letter == 'd' || letter == 'I' || letter == kNoFeature || letter == kDwarfPid;
}

std::string option_name(int letter) {
  if (letter < kInfo) return fmt::format("-{}", static_cast<char>(letter));
  for (const option* known = kLong; known->name; known++)
    if (known->val == letter) return fmt::format("--{}", known->name);
  return {};
}

// --name=value or --name, after "--".
Status take_named(Options& options, const std::string& text, GivenOnce& given) {
  std::string body = text.substr(2);
  size_t equal = body.find('=');
  if (equal == std::string::npos) {
    options.named.emplace_back(body, std::nullopt);
    return Done{};
  }
  options.named.emplace_back(body.substr(0, equal), body.substr(equal + 1));
  return given.take("--" + body.substr(0, equal), body.substr(equal + 1));
}

Status take_words(Options& options, const std::vector<std::string>& words,
                  const std::vector<std::string>& after) {
  size_t next = 0;
  if (options.action == Options::Action::List) {
    if (next < words.size()) options.search = words[next++];
  } else if (!options.program && next < words.size()) {
    options.script = words[next++];
  }
  for (; next < words.size(); next++) options.parameters.push_back(words[next]);
  GivenOnce given;
  for (const std::string& word : after) {
    if (!word.starts_with("--"))
      options.parameters.push_back(word);
    else if (Status status = take_named(options, word, given); !status.ok())
      return status;
  }
  return Done{};
}

Status check_combination(const Options& options) {
  if (options.pid && options.command) return Error{"-p and -c cannot be used together"};
  if (options.warns && options.no_warnings)
    return Error{"-k and --no-warnings contradict each other"};
  bool runs = options.action == Options::Action::Run;
  if (runs && !options.program && options.script.empty())
    return Error{"no script given", 0, "give a file name or -e 'script'; --help shows all options"};
  return Done{};
}

}  // namespace

Result<Options> parse_options(int argc, char** argv) {
  // What follows "--" belongs to the script; getopt must not see it.
  int own = argc;
  for (int i = 1; i < argc; i++)
    if (std::string_view(argv[i]) == "--") {
      own = i;
      break;
    }
  std::vector<std::string> after(argv + std::min(own + 1, argc), argv + argc);
  Options options;
  opterr = 0;
  optind = 0;  // getopt's sign to begin afresh, at 1
  if (own > 1 && std::string_view(argv[1]) == "check") {
    options.action = Options::Action::Check;
    argv++, own--;
  }
  GivenOnce given;
  int letter;
  while ((letter = getopt_long(own, argv, ":e:lvhVp:c:o:f:B:qkd:bI:", kLong, nullptr)) != -1) {
    std::string shown = optind > 0 && optind <= own ? argv[optind - 1] : "";
    if (letter == '?')
      return Error{fmt::format("there is no option '{}'", shown), 0, "--help shows all options"};
    if (letter == ':') return Error{fmt::format("option '{}' needs a value", shown)};
    if (optarg && !may_be_repeated(letter))
      if (Status status = given.take(option_name(letter), optarg); !status.ok())
        return status.error();
    if (Status status = apply(options, letter, optarg ? optarg : ""); !status.ok())
      return status.error();
  }
  std::vector<std::string> words(argv + optind, argv + own);
  if (Status status = take_words(options, words, after); !status.ok()) return status.error();
  if (Status status = check_combination(options); !status.ok()) return status.error();
  return options;
}

std::string help_text() {
  return R"(flowtap: shows what network and disk I/O does on this machine, with the bpftrace language

usage: flowtap [options] SCRIPT [parameters] [-- --option=value ...]
       flowtap [options] -e 'script' [parameters]
       flowtap -l [PATTERN]
       flowtap check [SCRIPT]     what this kernel permits, and which plan a script would use
       flowtap NAME [options]     run a ready tool; flowtap tools lists them
       flowtap help NAME          what a tool shows; flowtap source NAME prints its script
       flowtap tutorial           twelve short lessons that run by themselves

  -e SCRIPT            the script's text; '-' as file name reads standard input
  -l [PATTERN]         list what can be traced; -lv adds the arguments
  -p PID               trace this process only
  -c COMMAND           start a command and trace until it ends
  -f text|json|csv     output format
  -o FILE              write the output to a file
  -B line|full|none    buffer the output by line, in blocks of 64 KB, or not at all (default: write it
                       when no event is waiting)
  -q                   do not say how many probes were attached
  -v                   say more, e.g. the verifier's log of a refused program
  -k                   count failed reads and missing keys, and say so
  --stats              runs and nanoseconds of every probe at the end
  --unsafe             allow functions that change the system: system(), signal()...
  --probe-filter REGEX attach only to places whose name matches
  --dwarf-pid PID      read the unwind tables of a process for dw_ustack before tracing; may be given
                       again
  --max-keys N         room for so many keys in every map, whatever the script says
  --plan NAME          use this plan of the script, whatever the others could do
  --test, --bench      run the script's test or bench probes, and nothing else
  --no-feature NAME    do without: kprobe_as_fentry, kprobe, fentry, kprobe_multi, uprobe_multi,
                       direct_reads, comm_in_place, pid_in_place, small_maps, hashed_keys,
                       small_ring, cpu_lanes, hot_keys, task_storage, stored_zeros, lazy_types
  --dry-run            stop when everything is attached
  --no-warnings        no warnings
  -d STAGE             print a stage of the compiler: ast, types, ir, bpf, maps, all
  --info               what this kernel offers
  -V, --version        the version
  -h, --help           this text

examples:
  flowtap -e 'tracepoint:syscalls:sys_enter_openat { printf("%s %s\n", comm, str(args.filename)); }'
  flowtap -e 'tracepoint:block:block_rq_issue { @[args.comm] = hist(args.bytes); }'

exit codes: 0 done, 1 the script is wrong, 2 usage, 3 the kernel refused or rights are missing,
4 a fault of flowtap; a script's exit(n) gives n.
)";
}

}  // namespace flowtap
