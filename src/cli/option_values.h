#pragma once
// What the values of options mean: the setters of the option table.

#include <string>

#include "cli/options.h"

namespace flowtap {

Status set_dump(Options& options, const std::string& shown, const std::string& value);
Status set_buffering(Options& options, const std::string& shown, const std::string& value);
Status set_format(Options& options, const std::string& shown, const std::string& value);
Status set_pid(Options& options, const std::string& shown, const std::string& value);
Status add_dwarf_pid(Options& options, const std::string& shown, const std::string& value);
Status set_max_keys(Options& options, const std::string& shown, const std::string& value);
Status set_probe_filter(Options& options, const std::string& shown, const std::string& value);
Status add_unused_features(Options& options, const std::string& shown, const std::string& value);
Status set_mode(Options& options, const std::string& shown, const std::string& value);
Status add_comm_filter(Options& options, const std::string& shown, const std::string& value);
Status add_cgroup_filter(Options& options, const std::string& shown, const std::string& value);
Status set_plot_file(Options& options, const std::string& shown, const std::string& value);

// Not 0, which tools take for no port.
Result<std::string> port_number(const std::string& value);

// The kernel's number of a network namespace (a process, a name of ip-netns(8) or a file) and of a
// cgroup (its directory), as text.
Result<std::string> namespace_inode(const std::string& value);
Result<std::string> cgroup_inode(const std::string& value);

}  // namespace flowtap
