// From command lines to scripts, without running them.

#include "generic/generic.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "generic/expression.h"

namespace flowtap {
namespace {

// The script without its first two lines, or the message.
std::string script_of(const char* tool, std::vector<std::string> words) {
  const GenericTool* found = find_generic_tool(tool);
  if (!found) return "no tool";
  GenericLine line;
  OptionReader reader(std::move(words));
  reader.set_owner(tool);
  while (!reader.is_at_end()) {
    Result<OptionItem> item = reader.next(found->options);
    if (!item) return item.error().message();
    if (item->index)
      line.add(found->options[*item->index], *item);
    else
      line.add_word(item->shown);
  }
  Result<GenericScript> script = found->write(line);
  if (!script) return script.error().message();
  size_t second = script->text.find('\n');
  return script->text.substr(script->text.find('\n', second + 1) + 1);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ProbeSpecs, become_attach_points) {
  struct {
    const char *text, *expected;
  } const cases[] = {
      {"tcp_*", "kprobe:tcp_*"},
      {"p::tcp_sendmsg", "kprobe:tcp_sendmsg"},
      {"r::tcp_recvmsg()", "kretprobe:tcp_recvmsg"},
      {"c:malloc", "uprobe:c:malloc"},
      {"p:c:malloc", "uprobe:c:malloc"},
      {"r:/usr/bin/bash:readline", "uretprobe:/usr/bin/bash:readline"},
      {"t:block:*", "tracepoint:block:*"},
      {"u:pthread:pthread_start", "usdt:pthread:pthread_start"},
  };
  for (const auto& c : cases) {
    Result<ProbeSpec> spec = parse_probe_spec(c.text);
    EXPECT_EQ(spec ? attach_point(*spec) : spec.error().message(), c.expected) << c.text;
  }
}

TEST(ProbeSpecs, mistakes_have_their_place) {
  struct {
    const char *text, *expected;
  } const cases[] = {
      {"", "no function or event is named\n  \n  ^"},
      {"x::f", "'x' is not a kind of probe\n  x::f\n  ^"},
      {"p:f", "'p:' needs one part more\n  p:f\n  ^"},
      {"t::f", "the category of the event is missing\n  t::f\n    ^"},
      {"p::f(int a", "there is no ')' for this '('\n  p::f(int a\n      ^"},
      {"p:c:", "no function or event is named\n  p:c:\n      ^"},
  };
  for (const auto& c : cases) {
    Result<ProbeSpec> spec = parse_probe_spec(c.text);
    EXPECT_EQ(spec ? "fine" : spec.error().message(), c.expected) << c.text;
  }
}

TEST(ProbeSpecs, signatures_have_types_and_names) {
  Result<ProbeSpec> spec =
      parse_probe_spec("p::f(struct sock *sk, const char *name, unsigned long n, int, struct x)");
  ASSERT_TRUE(spec);
  std::string text;
  for (const Parameter& p : spec->parameters) text += "[" + p.type + "|" + p.name + "]";
  EXPECT_EQ(text, "[struct sock *|sk][const char *|name][unsigned long|n][int|][struct x|]");
}

TEST(ExpressionsOfBcc, become_those_of_scripts) {
  const std::string entry = "p::f(struct sock *sk, int n, size_t size)", back = "r::f(int n)";
  struct {
    const std::string& probe;
    const char *text, *expected;
  } const cases[] = {
      {entry, "size", "arg2"},
      {entry, "n > 3 && size", "((int)arg1) > 3 && arg2"},
      {entry, "sk->size", "((struct sock *)arg0)->size"},
      {entry, "arg1 + arg3", "arg0 + arg2"},
      {entry, "STRCMP(\"size\", arg1)", "(str(arg0) == \"size\")"},
      {entry, "arg2@user", "uptr(arg1)"},
      {entry, "'a' + NULL", "97 + 0"},
      {entry, "$PID == 3 ? $COMM : \"x\"", "pid == 3 ? comm : \"x\""},
      {entry, "0x1f", "0x1f"},
      {entry, "$retval", "only a return has a value\n  $retval\n  ^"},
      {entry, "a + $odd", "'$odd' means nothing here\n  a + $odd\n      ^"},
      {entry, "arg0", "arguments are counted from one here\n  arg0\n  ^"},
      {back, "$retval", "retval"},
      {back, "$latency / 1000", "(nsecs - @start[tid]) / 1000"},
      {back, "$entry(n) + $entry(n)", "@entry0[tid] + @entry0[tid]"},
      {back, "n", "arguments are gone when a function returns\n  n\n  ^"},
  };
  for (const auto& c : cases) {
    ProbeSpec spec = *parse_probe_spec(c.probe);
    Result<std::string> out = Expressions(spec).rewrite(c.text, c.text);
    EXPECT_EQ(out ? *out : out.error().message(), c.expected) << c.text;
  }
}

TEST(GenericTools, write_scripts) {
  struct {
    const char* tool;
    std::vector<std::string> words;
    const char* part;
  } const cases[] = {
      {"funccount", {"tcp_*"}, "kprobe:tcp_* { @[func] = count(); }\n"},
      {"funccount", {"tcp_*"}, "let @ per report;\n"},
      {"funccount", {"--cpu=0", "f"}, "kprobe:f /cpu == 0/ {"},
      {"funccount", {"-i5", "t:block:*"}, "self:report:5 {\n  for"},
      {"funccount", {"u:libc:x"}, "plan functions {\nuprobe:libc:x { @[func] = count(); }\n}\n"},
      {"stackcount", {"t:a:b"}, "let @ per report;\n"},
      {"funclatency", {"-u", "f"}, "let @usecs per report;\nlet @total per report;\n"},
      {"argdist", {"-C", "t:a:b()"}, "let @calls per report;\n"},
      {"stackcount", {"-UP", "t:a:b"}, "tracepoint:a:b { @[comm, pid, ustack] = count(); }\n"},
      {"stackcount", {"t:a:b"}, "{ @[ustack, kstack] = count(); }\n"},
      {"stackcount", {"-f", "-K", "f"}, "printf(\"%s;%s %d\\n\", $kv.0.0, $kv.0.1, $kv.1);"},
      {"argdist",
       {"-H", "p::tcp_sendmsg(struct sock *sk, struct msghdr *msg, size_t size):int:size"},
       "kprobe:tcp_sendmsg { @size = hist((int)(arg2)); }\n"},
      {"argdist",
       {"-C", "r::tcp_recvmsg():int:$retval:$retval>0"},
       "kretprobe:tcp_recvmsg /((int)retval)>0/ { @retval[((int)retval)] = count(); }\n"},
      {"argdist",
       {"-H", "t:block:block_rq_issue():u32:args->bytes"},
       "tracepoint:block:block_rq_issue { @bytes = hist(args->bytes); }\n"},
      {"argdist",
       {"-C", "t:b:x():char*,u32:args->rwbs,args->n#kind"},
       "{ @kind[str(args->rwbs), args->n] = count(); }\n"},
      {"argdist",
       {"-H", "r::f(int n):u64:$latency:$entry(n) == 3"},
       "kprobe:f { @start[tid] = nsecs; @entry0[tid] = ((int)arg0); }\n"
       "kretprobe:f /@start[tid]/ { if (@entry0[tid] == 3) { @latency = hist((nsecs - "
       "@start[tid])); } delete(@start, tid); delete(@entry0, tid); }\n"},
      {"argdist", {"-C", "p::f():int:arg1 ? 1 : 2:arg2"}, "kprobe:f /arg1/ { @arg1[(int)(arg0 ? 1"},
      {"trace",
       {"t:block:block_rq_complete (args->error) \"%s %d\", args->rwbs, args->error"},
       "tracepoint:block:block_rq_complete /args->error/ {\n  printf(\"%-7d %-7d %-15s %-16s %s "
       "%d\\n\", pid, tid, comm, \"block_rq_complete\", str(args->rwbs), args->error);\n"},
      {"trace", {"-M", "3", "f \"%K\", arg1"}, "/@lines < 3/"},
      {"funclatency", {"-u", "vfs_read"}, "  @usecs = hist($ns / 1000);\n"},
      {"funclatency", {"-F", "vfs_*"}, "  $function = @name[tid, $depth];\n"},
      {"funcslower", {"-u", "10", "-a", "1", "c:f"}, "  if ($ns >= 10us) {\n"},
  };
  for (const auto& c : cases) {
    std::string text = script_of(c.tool, c.words);
    EXPECT_TRUE(holds(text, c.part)) << c.tool << " " << join(c.words, " ") << "\n" << text;
  }
}

TEST(GenericTools, refuse_what_they_cannot_read) {
  struct {
    const char* tool;
    std::vector<std::string> words;
    const char* expected;
  } const cases[] = {
      {"funccount", {}, "no function or event is named"},
      {"funccount", {"a", "b"}, "one pattern is expected, found 'b' too"},
      {"funccount", {"-i"}, "option '-i' of funccount needs a value"},
      {"funccount", {"-i", "x", "f"}, "-i takes a positive whole number, found 'x'"},
      {"funccount", {"--cpu", "-1", "f"}, "--cpu takes a number, found '-1'"},
      {"funccount", {"-Q", "f"}, "funccount has no option '-Q'"},
      {"stackcount", {"-KU", "f"}, "-K and -U contradict each other"},
      {"argdist", {"p::f():int:a"}, "'p::f():int:a' stands behind neither -H nor -C"},
      {"argdist", {"-H", "p::f()"}, "a histogram needs a value\n  p::f()\n        ^"},
      {"argdist", {"-C", "p::f():int"}, "the expression is missing\n  p::f():int\n            ^"},
      {"argdist",
       {"-C", "p::f():int,int:a"},
       "found 2 types for 1 expression\n  p::f():int,int:a\n                 ^"},
      {"trace", {"f \"%d\""}, "the format has 1 conversion for 0 values\n  f \"%d\"\n    ^"},
      {"trace", {"f x"}, "a format in double quotes is expected here\n  f x\n    ^"},
      {"funclatency", {"t:a:b"}, "only functions take time; an event happens at once"},
      {"funcslower", {"vfs_*"}, "funcslower takes whole names\n  vfs_*\n      ^"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(script_of(c.tool, c.words), c.expected) << c.tool << " " << join(c.words, " ");
}

}  // namespace
}  // namespace flowtap
