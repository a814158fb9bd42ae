// Tests and benchmarks of a script. Ways in: run_tests(), run_benchmarks(). What a test writes is
// shown only if it fails. A benchmark is run until it has taken a while; its time is what the
// kernel measured inside the program, so that system calls and output do not count.

#include "cli/script_tests.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>

#include "base/text.h"
#include "output/json_string.h"

namespace flowtap {

namespace {

using Watch = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongEnough{200};
constexpr uint64_t kMostRuns = 1'000'000;

struct TestProbe {
  size_t program = 0;
  std::string name;
};

std::vector<TestProbe> find_probes(const Image& image, ProbeKind kind) {
  std::vector<TestProbe> found;
  for (size_t i = 0; i < image.programs.size(); i++)
    for (const AttachPoint& point : image.programs[i].attach)
      if (point.kind == kind) found.push_back({i, point.function});
  return found;
}

Error nothing_to_run(const char* kind) {
  return {fmt::format("the script has no probe of the kind '{}'", kind), 0,
          fmt::format("write one as '{}:NAME {{ ... }}'", kind)};
}

std::string take(Sink& sink) { return std::exchange(sink.buffer(), {}); }

class Report {
 public:
  explicit Report(const ScriptTests& tests) : tests_(tests) {}

  enum class Mood { Good, Bad };

  // "[ RUN      ] name"
  void line(Mood mood, std::string_view tag, const std::string& text) {
    if (tests_.is_json) return;
    std::string bracket = fmt::format("[{}]", tag);
    if (tests_.is_coloured)
      bracket = fmt::format("\033[{}m{}\033[0m", mood == Mood::Good ? 32 : 31, bracket);
    put(fmt::format("{} {}\n", bracket, text));
  }

  void text(const std::string& text) {
    if (!tests_.is_json) put(text);
  }

  // {"type": TYPE, "data": {NAME: {MEMBERS}}}
  void record(std::string_view type, const std::string& name, const std::string& members) {
    if (!tests_.is_json) return;
    std::string out = fmt::format("{{\"type\": \"{}\", \"data\": {{", type);
    append_json_string(out, name);
    put(out + fmt::format(": {{{}}}}}}}\n", members));
  }

 private:
  // At once: a test that hangs has been named.
  void put(const std::string& text) {
    tests_.out.buffer() += text;
    tests_.out.flush();
  }

  const ScriptTests& tests_;
};

}  // namespace

Result<int> run_tests(const ScriptTests& tests) {
  using enum Report::Mood;
  Report report(tests);
  std::vector<TestProbe> probes = find_probes(tests.image, ProbeKind::Test);
  if (probes.empty()) return nothing_to_run("test");
  std::vector<std::string> failed;
  report.line(Good, "==========", fmt::format("Running {}.", counted(probes.size(), "test")));
  for (const TestProbe& test : probes) {
    report.line(Good, " RUN      ", test.name);
    Watch::time_point began = Watch::now();
    Result<uint32_t> result = tests.session.run(test.program);
    if (!result) return result.error();
    int64_t us =
        std::chrono::duration_cast<std::chrono::microseconds>(Watch::now() - began).count();
    bool has_passed = *result == 0;
    std::string written = take(tests.written);
    if (!has_passed) {
      failed.push_back(test.name);
      report.text(written);
    }
    report.line(has_passed ? Good : Bad, has_passed ? "       OK " : "  FAILED  ",
                fmt::format("{} ({} us)", test.name, us));
    std::string members =
        fmt::format("\"duration\": {}, \"passed\": {}, \"output\": ", us, has_passed);
    append_json_string(members, written);
    report.record("test_result", test.name, members);
  }
  report.line(Good, "==========", fmt::format("{} ran.", counted(probes.size(), "test")));
  report.line(Good, "  PASSED  ",
              fmt::format("{}.", counted(probes.size() - failed.size(), "test")));
  if (failed.empty()) return 0;
  report.line(Bad, "  FAILED  ", fmt::format("{}, listed below:", counted(failed.size(), "test")));
  for (const std::string& name : failed) report.line(Bad, "  FAILED  ", name);
  return 1;
}

namespace {

// Ever more runs, until all together took long enough to be trusted.
Result<ProgramStats> measure(const ScriptTests& tests, const TestProbe& probe) {
  Watch::time_point began = Watch::now();
  for (uint64_t runs = 0, more = 1; runs < kMostRuns; runs += more, more *= 2) {
    Result<uint32_t> result = tests.session.run(probe.program, more);
    if (!result) return result.error();
    std::string written = take(tests.written);
    if (*result != 0)
      return Error{fmt::format("benchmark '{}' failed{}{}", probe.name,
                               written.empty() ? "" : "; it wrote:\n", written)};
    if (Watch::now() - began >= kLongEnough) break;
  }
  Result<std::vector<ProgramStats>> stats = tests.session.stats();
  if (!stats) return stats.error();
  return (*stats)[probe.program];
}

}  // namespace

Result<int> run_benchmarks(const ScriptTests& tests) {
  Report report(tests);
  std::vector<TestProbe> benchmarks = find_probes(tests.image, ProbeKind::Bench);
  if (benchmarks.empty()) return nothing_to_run("bench");
  report.text(
      fmt::format("{:<41}{:>15}{:>15}\n{:-<71}\n", "Benchmark", "Time(ns)", "Iterations", ""));
  for (const TestProbe& probe : benchmarks) {
    Result<ProgramStats> stats = measure(tests, probe);
    if (!stats) return stats.error();
    uint64_t average = stats->runs ? stats->nanoseconds / stats->runs : 0;
    report.text(fmt::format("{:<41}{:>15}{:>15}\n", probe.name, average, stats->runs));
    report.record("benchmark_result", probe.name,
                  fmt::format("\"average\": {}, \"iters\": {}", average, stats->runs));
  }
  return 0;
}

}  // namespace flowtap
