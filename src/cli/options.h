#pragma once
// What the command line asks for.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/tool_files.h"
#include "compiler/script.h"
#include "output/formats.h"
#include "output/sink.h"
#include "target/feature.h"

namespace flowtap {

// What is done with a script: --test and --bench run the probes made for that, and no other.
enum class Mode { Trace, Test, Bench };

struct Options {
  enum class Action {
    Run,
    List,
    Check,
    Help,
    Version,
    Info,
    Docs,
    Say,
    Tutorial
  } action = Action::Run;
  std::optional<std::string> program;   // -e
  std::string script;                   // file name; "-" for standard input
  std::optional<ToolFile> tool;         // takes the place of the file
  std::optional<Script> parsed_tool;    // when its options had to be known
  std::string added;                    // script text that belongs to the command line
  std::string filter;                   // expression that every probe must fulfil
  std::vector<std::string> parameters;  // $1, $2...
  std::vector<std::pair<std::string, std::optional<std::string>>>
      named;           // after "--": --name[=value]
  std::string search;  // -l PATTERN, --docs SUBJECT, the text to say
  std::optional<int> pid;
  bool follows = false;         // --follow
  std::vector<int> dwarf_pids;  // --dwarf-pid
  int64_t interval = 0;         // seconds between reports; 0: as the script says
  int64_t count = 0;            // of reports; 0: any number
  int64_t duration = 0;         // seconds; 0: until something else ends it
  bool has_times = false;
  std::string plot_file;         // empty: none
  bool shows_libraries = false;  // source --all
  std::optional<std::string> command;
  std::string output;  // -o
  Mode mode = Mode::Trace;
  const OutputFormat* format = &kFormats[0];
  Buffering buffering = Buffering::Flush;
  bool is_quiet = false;
  int verbose = 0;
  std::vector<std::string> dump;
  bool warns = false;  // -k
  bool is_unsafe = false;
  bool is_dry_run = false;
  bool no_warnings = false;
  bool shows_stats = false;
  std::string probe_filter;
  uint64_t max_keys = 0;    // of every map; 0: as the script says
  std::string plan;         // --plan: the only one to try
  FeatureSet unused;        // --no-feature
  std::string target_file;  // --target: a described machine instead of this one

  void add_filter(const std::string& condition) {
    if (!filter.empty()) filter += " && ";
    filter += condition;
  }
};

inline bool is_json(const Options& options) { return options.format->is_json; }

}  // namespace flowtap
