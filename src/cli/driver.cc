// The driver: what happens between main() and the exit code, in order. Way in: drive().

#include "cli/driver.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <regex.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>

#include "base/clock.h"
#include "base/text.h"
#include "cli/check_command.h"
#include "cli/command_line.h"
#include "cli/docs.h"
#include "cli/help.h"
#include "cli/info.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/script_files.h"
#include "cli/script_tests.h"
#include "cli/tutorial.h"
#include "compiler/compile.h"
#include "live/live_target.h"
#include "output/escape.h"
#include "output/formats.h"
#include "output/tee.h"
#include "plot/plot_check.h"
#include "plot/plot_writer.h"
#include "privileges/drop_rights.h"
#include "runtime/child.h"
#include "runtime/live_symbolizer.h"
#include "runtime/session.h"
#include "target/file_target.h"

namespace flowtap {

namespace {

// Writes text to standard output; a reader that has gone away is no reason to complain.
// Names of user programs' functions may hold anything; a terminal shows them only.
void put(std::string text, std::FILE* to = stdout) {
  if (::isatty(::fileno(to)) == 1) escape_tail(text, 0, LineEnds::Keep);
  std::fwrite(text.data(), 1, text.size(), to);
}

// A reader that has seen enough closes its pipe.
bool is_loss(int code) { return code != 0 && code != EPIPE; }

Error cannot_write(const std::string& file, int code) {
  std::string what = file.empty() ? "standard output" : fmt::format("'{}'", file);
  if (code == EAGAIN)
    return Error{
        fmt::format("cannot write to {}: its reader has stopped; later output was lost", what)};
  return Error{fmt::format("cannot write to {}", what), code, "what came after that is lost"};
}

// The same pipe or terminal, opened again so that a write does not block; other processes have it
// too and must not be surprised. Not valid where that cannot be done: then writes block.
Fd open_without_blocking(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0 || !(S_ISFIFO(info.st_mode) || ::isatty(fd) == 1)) return Fd();
  int packets = ::fcntl(fd, F_GETFL) & O_DIRECT;  // a pipe that keeps writes apart goes on doing so
  std::string path = fmt::format("/proc/self/fd/{}", fd);
  return Fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | packets));
}

std::function<void(const std::string&)> warn_unless(bool no_warnings) {
  if (no_warnings) return {};
  return [](const std::string& text) { put(fmt::format("warning: {}\n", text), stderr); };
}

std::string error_text(const Error& error) {
  std::string hint = error.hint.empty() ? "" : fmt::format("hint: {}\n", error.hint);
  return fmt::format("error: {}\n{}", error.message(), hint);
}

int report(const Error& error, int code) {
  put(error_text(error), stderr);
  return code;
}

// Set when flowtap runs in a container: process ids are then those of its namespace.
std::optional<LowerOptions::PidNamespace> own_pid_namespace() {
  constexpr ino_t kInitialNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO
  struct stat info;
  if (::stat("/proc/self/ns/pid", &info) != 0 || info.st_ino == kInitialNamespace)
    return std::nullopt;
  return LowerOptions::PidNamespace{info.st_dev, info.st_ino};
}

// A test for names by a regular expression; empty when there is none. The options have checked it.
std::function<bool(const std::string&)> name_filter(const std::string& pattern) {
  if (pattern.empty()) return {};
  std::shared_ptr<regex_t> compiled(new regex_t, [](regex_t* r) {
    ::regfree(r);
    delete r;
  });
  ::regcomp(compiled.get(), pattern.c_str(), REG_EXTENDED | REG_NOSUB);
  return [compiled](const std::string& name) {
    return ::regexec(compiled.get(), name.c_str(), 0, nullptr, 0) == 0;
  };
}

CompileOptions compile_options(const Options& options, const Child* child) {
  CompileOptions out;
  out.check.is_unsafe = options.is_unsafe;
  out.check.pid = options.pid;
  if (child) out.check.child_pid = child->pid();
  out.check.named = options.named;
  if (options.mode == Mode::Test) out.check.only_kind = ProbeKind::Test;
  if (options.mode == Mode::Bench) out.check.only_kind = ProbeKind::Bench;
  out.check.swaps_function_probes = !options.unused.has(Feature::KprobeAsFentry);
  out.lower.unused = options.unused;
  out.check.lists_left_out = options.verbose > 0;
  out.check.keeps_probe = name_filter(options.probe_filter);
  out.check.environment = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  out.lower.warns = options.warns;
  out.lower.max_keys = options.max_keys;
  out.lower.pid = options.pid;
  out.lower.user_pid = child ? std::optional<int>(child->pid()) : options.pid;
  out.lower.start_ns = clock_ns(CLOCK_BOOTTIME);
  out.lower.tai_offset_ns =
      static_cast<int64_t>(clock_ns(CLOCK_TAI)) - static_cast<int64_t>(clock_ns(CLOCK_BOOTTIME));
  out.lower.pid_namespace = own_pid_namespace();
  (void)::getentropy(out.lower.key_seed.data(), sizeof out.lower.key_seed);
  out.dump = options.dump;
  return out;
}

void show(const Diagnostics& diagnostics, const Sources& sources, bool no_warnings) {
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity == Severity::Error || !no_warnings)
      put(render(diagnostic, sources), stderr);
}

void show_stats(const Session& session, const Image& image) {
  Result<std::vector<ProgramStats>> stats = session.stats();
  if (!stats) return;
  put(fmt::format("{:>12} {:>10}  {}\n", "runs", "ns/run", "probe"), stderr);
  for (size_t i = 0; i < image.programs.size(); i++) {
    const ProgramStats& s = (*stats)[i];
    const std::vector<AttachPoint>& attach = image.programs[i].attach;
    if (attach.empty()) continue;  // one of our own
    std::string more = attach.size() > 1 ? fmt::format(" and {} more", attach.size() - 1) : "";
    const std::string& made_as = image.programs[i].made_as;
    if (!made_as.empty()) more += fmt::format(" (as {})", made_as);
    put(fmt::format("{:>12} {:>10}  {}{}\n", s.runs, s.runs ? s.nanoseconds / s.runs : 0,
                    attach[0].name, more),
        stderr);
  }
}

// The largest maps first; what is small is one line.
void show_kernel_memory(const Session& session, const Image& image) {
  constexpr uint64_t kSmall = 100'000;
  Session::KernelMemory memory = session.kernel_memory();
  std::map<std::string, uint64_t> by_name;  // a map may have two sides
  for (size_t i = 0; i < memory.maps.size(); i++) by_name[image.maps[i].name] += memory.maps[i];
  std::vector<std::pair<uint64_t, std::string>> maps;
  uint64_t rest = memory.programs, total = memory.programs;
  for (const auto& [name, bytes] : by_name) {
    total += bytes;
    if (bytes < kSmall)
      rest += bytes;
    else
      maps.emplace_back(bytes, "map " + name);
  }
  std::sort(maps.rbegin(), maps.rend());
  maps.emplace_back(rest, "programs and small maps");
  maps.emplace_back(total, "total");
  put(fmt::format("{:>12} {:>10}  {}\n", "", "kB", "kernel memory"), stderr);
  for (const auto& [bytes, what] : maps)
    put(fmt::format("{:>12} {:>10}  {}\n", "", (bytes + 999) / 1000, what), stderr);
}

// From here on records are read, which others can fill. A command of system() is to have the rights
// that flowtap was started with, so such a script keeps them.
Status drop_rights_for(const Image& image, bool has_child) {
  LaterNeeds needs{.has_child = has_child};
  for (const Event& event : image.events) {
    if (event.kind == EventKind::System) return Done{};
    if (event.kind == EventKind::SkbOutput) needs.writes_files = true;
  }
  return drop_rights(needs);
}

// What became of an image: the code to exit with, or why the kernel did not take it.
struct Outcome {
  std::optional<int> code;
  std::string why;      // in a few words
  std::string message;  // in full
};

class Driver {
 public:
  explicit Driver(Options options) : options_(std::move(options)) {}

  int run() {
    if (Status status = read(); !status) return report(status.error(), kExitScript);
    if (!options_.target_file.empty()) return compile_for_file();

    if (options_.action == Options::Action::Run)
      if (Status status = open_files(); !status) return report(status.error(), kExitUsage);
    std::optional<Child> child;
    if (options_.command) {
      Result<Child> started = Child::start(*options_.command);
      if (!started) return report(started.error(), kExitScript);
      child = std::move(*started);
    }
    LiveTarget target(LiveTargetOptions{.without = options_.unused,
                                        .pid = options_.pid,
                                        .warn = warn_unless(options_.no_warnings),
                                        .warns_of_all_files = options_.verbose > 0});
    CompileOptions how = compile_options(options_, child ? &*child : nullptr);
    Result<std::vector<std::string>> plans = wanted_plans();
    if (!plans) return report(plans.error(), kExitUsage);
    if (options_.action == Options::Action::Check) return check_plans(target, how, *plans);
    return run_plans(target, how, *plans, child ? &*child : nullptr);
  }

 private:
  // A tool was parsed for its options.
  Status read() {
    Result<Script> script = options_.parsed_tool ? Result<Script>(std::move(*options_.parsed_tool))
                                                 : read_script(options_);
    if (!script) return script.error();
    script_ = std::move(*script);
    add_filter(script_, options_.filter);
    add_text(script_, options_.added);
    return Done{};
  }

  // In the order to try them.
  Result<std::vector<std::string>> wanted_plans() const {
    std::vector<std::string> all = plan_names(script_);
    if (options_.plan.empty()) return all;
    if (std::find(all.begin(), all.end(), options_.plan) != all.end())
      return std::vector<std::string>{options_.plan};
    return Error{fmt::format("the script has no plan '{}'", options_.plan), 0,
                 script_.ast.plans.empty() ? "it has no plans at all"
                                           : fmt::format("its plans are: {}", join(all, ", "))};
  }

  // -l with a script: where it would be attached.
  int list_image(const Image& image) {
    for (const Program& program : image.programs)
      for (const AttachPoint& point : program.attach)
        if (probe_row(point.kind).family != ProbeFamily::Special) put(point.name + "\n");
    return 0;
  }

  // The first plan that this machine takes is used; when there is none, all their reasons are told.
  int run_plans(const LiveTarget& target, CompileOptions how, const std::vector<std::string>& plans,
                Child* child) {
    std::vector<Verdict> refused;
    for (const std::string& plan : plans) {
      how.plan = plan;
      Diagnostics diagnostics;
      std::optional<Compiled> compiled = compile(script_, target, how, diagnostics);
      target.warn_of_the_rest();
      if (!compiled) {
        refused.push_back({plan, false, first_error(diagnostics, script_.sources)});
        // A mistake that all of them have is the script's.
        bool is_last = refused.size() == plans.size();
        bool is_same = std::all_of(refused.begin(), refused.end(),
                                   [&](const Verdict& v) { return v.why == refused[0].why; });
        if (!is_last || !is_same) continue;
        show(diagnostics, script_.sources, options_.no_warnings);
        return kExitScript;
      }
      say_plan(plan, refused);
      show(diagnostics, script_.sources, options_.no_warnings);
      put(compiled->dumps, stderr);
      if (options_.action == Options::Action::List) return list_image(compiled->image);
      RunOptions run = run_options(*compiled, child);
      bool is_last = &plan == &plans.back();
      run.has_fallback = !is_last || compiled->has_relatives;
      run.load.leaves_out = !compiled->has_relatives;
      Outcome outcome = run_image(*compiled, run);
      if (!outcome.code && compiled->has_relatives) {
        // Not every function that takes a kprobe takes fentry, and the reverse.
        CompileOptions as_written = how;
        as_written.check.swaps_function_probes = false;
        compiled = compile(script_, target, as_written, diagnostics);
        run.has_fallback = !is_last;
        run.load.leaves_out = true;
        if (compiled) outcome = run_image(*compiled, run);
      }
      if (outcome.code) return *outcome.code;
      if (plan.empty()) {
        put(outcome.message, stderr);
        return kExitKernel;
      }
      refused.push_back({plan, false, outcome.why});
    }
    put(fmt::format("error: none of the script's plans works on this machine\n{}",
                    verdicts_text(refused, "plan")),
        stderr);
    return kExitKernel;
  }

  void say_plan(const std::string& plan, const std::vector<Verdict>& refused) const {
    if (options_.verbose == 0 || plan.empty()) return;
    put(fmt::format("{}trying plan '{}'\n", refused.empty() ? "" : verdicts_text(refused, "plan"),
                    plan),
        stderr);
  }

  // flowtap check SCRIPT
  int check_plans(const LiveTarget& target, CompileOptions how,
                  const std::vector<std::string>& plans) {
    std::vector<Verdict> verdicts;
    for (const std::string& plan : plans) {
      how.plan = plan;
      std::optional<std::string> why = try_script(script_, target, how);
      target.warn_of_the_rest();
      verdicts.push_back({plan.empty() ? "(the script)" : plan, !why, why.value_or("")});
    }
    put(is_json(options_) ? verdicts_json(verdicts, "plan") : verdicts_text(verdicts, "plan"));
    bool works = std::any_of(verdicts.begin(), verdicts.end(),
                             [](const Verdict& verdict) { return verdict.works; });
    return works ? 0 : kExitKernel;
  }

  // --target: compile for the machine that a file describes, and stop there.
  int compile_for_file() {
    Result<std::string> text = read_text(options_.target_file);
    if (!text) return report(text.error(), kExitScript);
    Result<FileTarget> target = FileTarget::parse(*text);
    if (!target) return report(target.error(), kExitScript);
    CompileOptions options = compile_options(options_, nullptr);
    options.lower.start_ns = 0;
    options.lower.tai_offset_ns = 0;
    options.lower.pid_namespace.reset();
    options.lower.key_seed = LowerOptions{}.key_seed;
    Result<std::vector<std::string>> plans = wanted_plans();
    if (!plans) return report(plans.error(), kExitUsage);
    for (const std::string& plan : *plans) {
      options.plan = plan;
      Diagnostics diagnostics;
      std::optional<Compiled> compiled = compile(script_, *target, options, diagnostics);
      if (!compiled && &plan != &plans->back()) continue;
      show(diagnostics, script_.sources, options_.no_warnings);
      if (compiled) put(compiled->dumps);
      return compiled ? 0 : kExitScript;
    }
    return kExitScript;
  }

  Outcome run_image(const Compiled& compiled, RunOptions run) {
    if (Status status = check_picture(compiled.image); !status)
      return {report(status.error(), kExitScript)};
    std::fflush(stdout);
    int output = output_.valid() ? output_.fd() : STDOUT_FILENO;
    Fd unblocked = open_without_blocking(output), errors = open_without_blocking(STDERR_FILENO);
    Sink data(unblocked.valid() ? unblocked.get() : output, ::isatty(output) == 1,
              options_.buffering);
    if (output_.valid()) data.replace_content();
    Sink messages(errors.valid() ? errors.get() : STDERR_FILENO, ::isatty(STDERR_FILENO) == 1);
    if (options_.verbose > 0)
      run.say = [&messages](const std::string& text) {
        std::string line = text + "\n";
        if (messages.is_terminal()) escape_tail(line, 0, LineEnds::Keep);
        messages.buffer() += line;
        messages.flush();
      };
    LiveSymbolizer symbolizer(LiveSymbolizer::Options{
        .demangles = compiled.config.cpp_demangle,
        .is_lazy = compiled.config.lazy_symbolication,
        .keeps_one_table = compiled.config.cache_user_symbols == UserSymbolCache::None});
    ValueContext values{symbolizer, compiled.image.strings, compiled.config.str_trunc_trailer};
    Sink kept(-1);  // what tests write waits for their result
    bool is_trace = options_.mode == Mode::Trace;
    std::unique_ptr<Writer> own = is_trace ? options_.format->make(data, messages, values)
                                           : make_text_writer(kept, kept, values);
    std::optional<PlotWriter> plot;
    std::vector<Writer*> writers = {own.get()};
    if (picture_.valid() && compiled.image.plot) {
      std::string title = options_.tool ? options_.tool->name : script_.sources.file(0).name();
      writers.push_back(&plot.emplace(*compiled.image.plot, title, values));
    }
    TeeWriter tee(writers);
    Writer& writer = plot ? tee : *own;

    bool run_has_child = run.child != nullptr, run_is_dry = run.dry_run;
    run.is_output_closed = [&] { return data.error() != 0; };
    run.look_at_process = [&](pid_t pid) { symbolizer.remember(static_cast<uint32_t>(pid)); };
    std::optional<Refusal> refusal;
    Result<Session> session =
        Session::load({compiled.image, script_.sources, writer, values}, std::move(run), &refusal);
    if (refusal) return refused(*refusal, session.error());
    if (!session) return refused(session.error());
    if (!is_trace) {
      data.begin();
      output_.keep();
      int code = run_script_tests(*session, compiled.image, kept, data);
      data.finish();
      return {code};
    }
    if (Status status = session->attach(); !status) return refused(status.error());
    if (!run_is_dry) {
      data.begin();
      output_.keep();
      picture_.keep();
    }
    if (Status status = drop_rights_for(compiled.image, run_has_child); !status)
      return {report(status.error(), kExitKernel)};
    Result<int> code = session->loop();
    writer.flush();
    data.finish();
    if (is_loss(data.error()))
      return {report(cannot_write(options_.output, data.error()), kExitKernel)};
    if (!code) return {report(code.error(), kExitKernel)};
    if (options_.shows_stats) {
      show_stats(*session, compiled.image);
      show_kernel_memory(*session, compiled.image);
    }
    if (plot && !run_is_dry) {
      Sink page(picture_.fd());
      page.replace_content();
      page.buffer() = plot->finish(!is_svg(options_.plot_file));
      page.flush();
      if (page.error())
        return {report(Error{fmt::format("cannot write '{}'", options_.plot_file), page.error()},
                       kExitKernel)};
    }
    return {*code};
  }

  static Outcome refused(const Error& error) {
    return {.why = error.message(), .message = error_text(error)};
  }

  // The verifier refused what the checker accepted: our fault, shown with the line it came from.
  Outcome refused(const Refusal& refusal, const Error& error) const {
    bool is_verbose = options_.verbose > 0;
    bool is_forbidden = !refusal.rights.empty();
    Diagnostic diagnostic{
        .span = refusal.span.value_or(kNowhere),
        .message = fmt::format("the kernel{} refused this{}: {}", is_forbidden ? "" : "'s verifier",
                               is_forbidden ? "" : " probe", refusal.reason)};
    diagnostic.hint = is_forbidden ? refusal.rights
                      : is_verbose
                          ? error.hint
                          : "-v shows the verifier's whole log; please report this with the script";
    std::string log = is_verbose ? refusal.log + "\n" : "";
    return {.why = refusal.reason, .message = render(diagnostic, script_.sources) + log};
  }

  int run_script_tests(Session& session, const Image& image, Sink& kept, Sink& data) {
    ScriptTests tests{session,
                      image,
                      kept,
                      data,
                      is_json(options_),
                      options_.output.empty() && ::isatty(STDOUT_FILENO) == 1};
    Result<int> code = options_.mode == Mode::Test ? run_tests(tests) : run_benchmarks(tests);
    return code ? *code : report(code.error(), kExitScript);
  }

  RunOptions run_options(const Compiled& compiled, Child* child) const {
    RunOptions run;
    run.pid = options_.pid;
    run.unwind_pids.assign(options_.dwarf_pids.begin(), options_.dwarf_pids.end());
    run.child = child;
    run.load.license = compiled.config.license;
    run.load.log_size = compiled.config.log_size;
    run.load.uses_kprobe_multi = !options_.unused.has(Feature::KprobeMulti);
    run.load.uses_uprobe_multi = !options_.unused.has(Feature::UprobeMulti);
    run.max_cat_bytes = compiled.config.max_cat_bytes;
    run.print_maps_on_exit = compiled.config.print_maps_on_exit;
    run.quiet = options_.is_quiet;
    run.interval = std::chrono::seconds(options_.interval);
    run.duration = std::chrono::seconds(options_.duration);
    run.has_times = options_.has_times;
    if (options_.tool) run.tool = options_.tool->name;
    run.warns = !options_.no_warnings;
    run.dry_run = options_.is_dry_run;
    run.stats = options_.shows_stats || options_.mode == Mode::Bench;
    bool tells = compiled.config.missing_probes == MissingProbes::Warn;
    if (tells || compiled.config.missing_probes == MissingProbes::Ignore) {
      run.forgive = [tells](const AttachPoint& point, const Error& error) {
        if (tells)
          put(fmt::format("warning: {} is skipped: {}\n", point.name, error.message()), stderr);
        return true;
      };
    }
    return run;
  }

  // A path that cannot be written is an error before anything is compiled or attached.
  Status open_files() {
    for (auto [file, name] :
         {std::pair{&output_, &options_.output}, {&picture_, &options_.plot_file}}) {
      if (name->empty()) continue;
      Result<OutputFile> opened = OutputFile::open(*name);
      if (!opened) return opened.error();
      *file = std::move(*opened);
    }
    if (output_.is_same(picture_)) return Error{"-o and --plot name the same file"};
    return Done{};
  }

  Status check_picture(const Image& image) const {
    if (!picture_.valid()) return Done{};
    if (!image.plot)
      return Error{"the script does not say what --plot draws", 0,
                   "declare it, e.g. plot heat @usecs in us;"};
    std::vector<PlotMap> maps;
    for (const MapDef& map : image.maps)
      if (map.name.starts_with('@')) maps.push_back({map.name, map.value});
    return check_plot(*image.plot, maps);
  }

  Options options_;
  Script script_;
  OutputFile output_, picture_;  // of -o and --plot
};

int list(const Options& options) {
  LiveTarget target(LiveTargetOptions{.pid = options.pid,
                                      .warn = warn_unless(options.no_warnings),
                                      .warns_of_all_files = options.verbose > 0});
  Result<std::string> text = list_probes(target, options.search, options.verbose > 0);
  target.warn_of_the_rest();
  if (!text) return report(text.error(), kExitScript);
  put(*text);
  return 0;
}

int docs(const Options& options) {
  Result<std::string> text = write_docs(options.search, options.script);
  if (!text) return report(text.error(), kExitUsage);
  put(*text);
  return 0;
}

int check_kernel(const Options& options) {
  LiveTarget target;
  std::vector<Verdict> verdicts = check_machine(target);
  put(is_json(options) ? verdicts_json(verdicts, "feature")
                       : describe_rights() + "\n" + verdicts_text(verdicts, "feature"));
  return 0;
}

}  // namespace

static int drive_to_end(std::vector<std::string> words) {
  Result<Options> options = parse_command(std::move(words));
  if (!options) return report(options.error(), kExitUsage);
  switch (options->action) {
    case Options::Action::Say: put(options->search); return 0;
    case Options::Action::Help: put(help_text()); return 0;
    case Options::Action::Version: put(fmt::format("flowtap v{}\n", FLOWTAP_VERSION)); return 0;
    case Options::Action::Tutorial: return run_tutorial(options->parameters);
    case Options::Action::Info: put(describe_machine()); return 0;
    case Options::Action::List:
      // `-l FILE` lists the probes of a script when there is such a file.
      if (!options->program && !is_file(options->search)) return list(*options);
      if (!options->program) options->script = options->search;
      break;
    case Options::Action::Docs: return docs(*options);
    case Options::Action::Check:
      if (!options->program && !options->tool && options->script.empty())
        return check_kernel(*options);
      break;
    case Options::Action::Run: break;
  }
  return Driver(std::move(*options)).run();
}

int drive(int argc, char** argv) {
  int code = drive_to_end({argv + std::min(argc, 1), argv + argc});
  if (std::fflush(stdout) != 0 && is_loss(errno))
    return report(cannot_write("", errno), kExitKernel);
  return code;
}

}  // namespace flowtap
