#pragma once
// The option table: every option of flowtap itself and those that tools share, with names, value,
// help, who has it and what it sets. The parser, --help, the help and man pages of tools,
// docs/options.md and shell completion are made from it. Options of one tool only are declared by
// the tool: getopt() in its script, or the table of a generic tool.

#include <span>
#include <string>
#include <string_view>

#include "base/option_line.h"
#include "cli/options.h"

namespace flowtap {

// Who has an option; a sum of these.
enum OptionOwner : uint16_t {
  kAlone = 1,         // flowtap, before the name of a tool or with a script
  kAfterTool = 2,     // flowtap, also after the name of a tool
  kProcess = 4,       // tools whose events happen in the process that they are about
  kReports = 8,       // tools that report
  kEveryTool = 16,    // all tools but the generic ones
  kPlots = 32,        // tools that can be drawn
  kScript = 64,       // tools whose script asks for it
  kInToolHelp = 128,  // shown in the help of tools
  kNotInHelp = 256,   // accepted for bpftrace's sake or for tests
};

struct OptionRow {
  OptionSpec spec;
  uint16_t owners;
  // `shown` is the option as it was given. For kScript alone there is nothing to set.
  Status (*set)(Options& options, const std::string& shown, const std::string& value);
  // What the user gives becomes what the script or the setter takes; null: as it is.
  Result<std::string> (*read)(const std::string& value) = nullptr;

  bool is_of(unsigned owner) const { return (owners & owner) != 0; }
};

std::span<const OptionRow> option_table();

// The row of that name among those of an owner; null when there is none.
const OptionRow* find_option(std::string_view name, unsigned owners);

}  // namespace flowtap
