// From words to Options.

#include "cli/command_line.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace flowtap {
namespace {

// What matters of the options, or the message.
std::string parsed(const std::string& words) {
  Result<Options> o = parse_command(split(words, ' '));
  if (!o) return o.error().message();
  std::string out = o->tool      ? "tool " + o->tool->name
                    : o->program ? "-e " + *o->program
                                 : o->script;
  if (o->action == Options::Action::Check) out = "check " + out;
  if (o->action == Options::Action::List) out = "list " + o->search;
  if (o->action == Options::Action::Say) out = "says " + o->search.substr(0, o->search.find(' '));
  if (is_json(*o)) out += " json";
  if (o->pid) out += " pid " + std::to_string(*o->pid);
  if (o->is_quiet) out += " quiet";
  if (o->verbose) out += " verbose";
  if (o->duration) out += " " + std::to_string(o->duration) + "s";
  if (o->has_times) out += " times";
  if (!o->filter.empty()) out += " /" + o->filter + "/";
  for (const auto& [name, value] : o->named) out += " --" + name + (value ? "=" + *value : "");
  for (const std::string& parameter : o->parameters) out += " $" + parameter;
  return out;
}

TEST(CommandLine, words_become_options) {
  const char* const cases[][2] = {
      {"-f json x.bt a b", "x.bt json $a $b"},
      {"x.bt -fjson a -- --port=5 --on b", "x.bt json --port=5 --on $a $b"},
      {"-e x -p 3 a", "-e x pid 3 $a"},
      {"-lv tcp*", "list tcp* verbose"},
      {"--form json --verb x.bt", "x.bt json verbose"},
      {"check -e x", "check -e x"},
      {"-q check ./x", "check ./x quiet"},
      {"--quiet tcplife --port 443", "tool tcplife quiet --port=443"},
      {"-q tcplife --port=443", "tool tcplife quiet --port=443"},
      {"tcplife -qf json -p 7", "tool tcplife json quiet --pid=7"},
      {"tcplife --comm x --duration 5", "tool tcplife quiet 5s --comm=x"},
      {"filetype -p7 --comm x -T", "tool filetype pid 7 quiet times /comm == \"x\"/"},
      {"-p 7 filetype", "tool filetype pid 7 quiet"},
      {"profile -p 1 --cgroup=/x", "cannot find the cgroup '/x': No such file or directory"},
      {"check tcplife", "check tool tcplife quiet"},
      {"funccount -Ti 1 -d5 vfs_*", "tool funccount quiet 5s"},
      {"-f json funccount -v -p3 vfs_*", "tool funccount json pid 3 verbose"},
      {"help tcplife", "says tcplife"},
      {"tcplife --help", "says tcplife"},
      {"funccount -h", "says funccount"},
      {"source funccount x", "says //"},
      {"no-such-tool", "there is neither a file nor a tool 'no-such-tool'"},
      {"help no-such-tool", "there is no tool 'no-such-tool'"},
      {"tcplife -e x", "tcplife has no option '-e'"},
      {"tcplife 80", "tcplife takes options only, found '80'"},
      {"tcplife --count 3", "tcplife has no option '--count'"},
      {"tcptop --count 0", "--count takes a positive whole number, found '0'"},
      {"tcplife --follow", "--follow needs a process to start from"},
      {"-p 1 -c true -e x", "-p and -c cannot be used together"},
      {"-k --no-warnings -e x", "-k and --no-warnings contradict each other"},
      {"--test --bench -e x", "--test and --bench cannot be used together"},
      {"-v", "no script given"},
      {"-b --usdt-file-activation -e x", "-e x"},
      {"-o  -e x", "-o needs a value"},
      {"--plan= x.bt", "--plan needs a value"},
      {"tcplife --port 70000", "'70000' is not a port: it is a number from 1 to 65535"},
      {"soconnect --rport 0", "'0' is not a port: it is a number from 1 to 65535"},
      {"tcplife --netns /etc/passwd", "'/etc/passwd' is not a network namespace"},
      {"tcplife --netns /proc/self/ns/mnt", "'/proc/self/ns/mnt' is not a network namespace"},
      {"-I include -e x", "-I is not supported: no headers are read, types come from BTF"},
      {"--include x.h -e x",
       "--include is not supported: no headers are read, types come from BTF"},
  };
  for (const auto& c : cases) EXPECT_EQ(parsed(c[0]), c[1]) << c[0];
}

}  // namespace
}  // namespace flowtap
