#pragma once
// What a tool says about itself: the head of its script, its tables, its options and its plans.

#include <optional>
#include <string>
#include <vector>

#include "base/option_line.h"
#include "base/result.h"
#include "compiler/script.h"
#include "types/table.h"

namespace flowtap {

// The comment a tool begins with:
//
//   // tcplife - one line for each TCP connection that ends
//   //
//   // LAYER: tcp
//   //
//   // What it shows and when to run it, in any number of paragraphs.
//   //
//   // OVERHEAD: two events per connection ...
//   // EXAMPLE: flowtap tcplife
//   //   PID  COMM ...
//
// An empty line ends a field; EXAMPLE goes to the end of the comment.
struct ToolHead {
  std::string summary;
  std::string layer;        // LAYER: what `flowtap tools` groups by
  std::string description;  // paragraphs, with an empty line between them
  std::string overhead;     // OVERHEAD: as measured
  std::string needs;        // NEEDS: what the kernel must offer
  std::string see_also;     // SEE ALSO: other tools
  std::string example;      // EXAMPLE: a command and what it printed
  // PROCESS: current. Every event happens in the process it is about, so that flowtap itself can
  // offer the options that choose processes.
  bool is_about_current = false;
};

ToolHead parse_head(std::string_view text);

struct ToolOption {
  std::string name;            // --name
  char letter = 0;             // -p; 0 for none
  Takes takes = Takes::Maybe;  // Maybe for a switch, else Number or Text
  std::string word;            // stands for the value in help: PID
  std::string fallback;        // the default as text; empty when it says nothing
  std::string doc;
};

struct ToolAbout {
  std::string name;
  std::string usage;  // what follows the options; empty when nothing does
  bool is_generic = false;
  ToolHead head;
  std::vector<Table> tables;
  bool has_plot = false;
  std::vector<ToolOption> options;  // what the script asks with getopt()
  std::vector<std::string> plans;
  std::optional<int64_t>
      interval;  // seconds between reports, 0 for one at the end; none: no self:report
};

// An Error when the script cannot be parsed; the message is the first mistake.
Result<ToolAbout> describe_script(const std::string& name, const Script& script);

}  // namespace flowtap
