// The driver: what happens between main() and the exit code, in order. Way in: drive().

#include "cli/driver.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <regex.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "base/text.h"
#include "cli/compile.h"
#include "cli/docs.h"
#include "cli/info.h"
#include "cli/list.h"
#include "cli/options.h"
#include "cli/script.h"
#include "kernel/live_target.h"
#include "output/json_writer.h"
#include "output/text_writer.h"
#include "runtime/child.h"
#include "runtime/live_symbolizer.h"
#include "runtime/session.h"
#include "target/file_target.h"

namespace flowtap {

namespace {

// Writes text to standard output; a reader that has gone away is no reason to complain.
void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int report(const Error& error, int code) {
  fmt::print(stderr, "error: {}\n", error.message());
  if (!error.hint.empty()) fmt::print(stderr, "hint: {}\n", error.hint);
  return code;
}

uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
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

CompileOptions compile_options(const Options& options, const Child* child,
                               const ScriptText& script) {
  CompileOptions out;
  out.check.is_unsafe = options.is_unsafe;
  out.check.pid = options.pid;
  if (child) out.check.child_pid = child->pid();
  out.check.named = options.named;
  out.check.keeps_probe = name_filter(options.probe_filter);
  out.check.environment = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  out.lower.warns = options.warns;
  out.lower.pid = options.pid;
  out.lower.user_pid = child ? std::optional<int>(child->pid()) : options.pid;
  out.lower.start_ns = clock_ns(CLOCK_BOOTTIME);
  out.lower.tai_offset_ns =
      static_cast<int64_t>(clock_ns(CLOCK_TAI)) - static_cast<int64_t>(clock_ns(CLOCK_BOOTTIME));
  out.lower.pid_namespace = own_pid_namespace();
  out.parameters = options.parameters;
  out.dump = options.dump;
  out.import = [folder = script.folder](const std::string& path) {
    return read_import(folder, path);
  };
  return out;
}

void show(const Diagnostics& diagnostics, const Sources& sources, bool no_warnings) {
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity == Severity::Error || !no_warnings)
      fmt::print(stderr, "{}", render(diagnostic, sources));
}

// The verifier refused what the checker accepted: our fault, shown with the line it came from.
int report_refusal(const Refusal& refusal, const Error& error, const Sources& sources,
                   bool is_verbose) {
  Diagnostic diagnostic{
      .span = refusal.span.value_or(Span{}),
      .message = fmt::format("the kernel's verifier refused this probe: {}", refusal.reason)};
  diagnostic.hint = is_verbose
                        ? error.hint
                        : "-v shows the verifier's whole log; please report this with the script";
  fmt::print(stderr, "{}", render(diagnostic, sources));
  if (is_verbose) fmt::print(stderr, "{}\n", refusal.log);
  return kExitKernel;
}

void show_stats(const Session& session, const Image& image) {
  Result<std::vector<ProgramStats>> stats = session.stats();
  if (!stats.ok()) return;
  fmt::print(stderr, "{:>12} {:>10}  {}\n", "runs", "ns/run", "probe");
  for (size_t i = 0; i < image.programs.size(); i++) {
    const ProgramStats& s = (*stats)[i];
    const std::vector<AttachPoint>& attach = image.programs[i].attach;
    if (attach.empty()) continue;  // one of our own
    std::string more = attach.size() > 1 ? fmt::format(" and {} more", attach.size() - 1) : "";
    fmt::print(stderr, "{:>12} {:>10}  {}{}\n", s.runs, s.runs ? s.nanoseconds / s.runs : 0,
               attach[0].name, more);
  }
}

class Driver {
 public:
  explicit Driver(Options options) : options_(std::move(options)) {}

  int run() {
    Result<ScriptText> script = read_script(options_);
    if (!script.ok()) return report(script.error(), kExitScript);
    uint32_t file = sources_.add(script->name, script->text);
    if (!options_.target_file.empty()) return compile_for_file(file, *script);

    std::optional<Child> child;
    if (options_.command) {
      Result<Child> started = Child::start(*options_.command);
      if (!started.ok()) return report(started.error(), kExitScript);
      child = std::move(*started);
    }
    LiveTarget target(LiveTargetOptions{.pid = options_.pid});
    std::optional<Compiled> compiled =
        compile_script(file, target, compile_options(options_, child ? &*child : nullptr, *script));
    if (!compiled) return kExitScript;
    if (options_.action == Options::Action::List) return list_image(compiled->image);
    return run_image(*compiled, child ? &*child : nullptr);
  }

 private:
  std::optional<Compiled> compile_script(uint32_t file, const Target& target,
                                         const CompileOptions& options) {
    Diagnostics diagnostics;
    std::optional<Compiled> compiled = compile(sources_, file, target, options, diagnostics);
    show(diagnostics, sources_, options_.no_warnings);
    if (compiled) put(compiled->dumps);
    return compiled;
  }

  // -l with a script: where it would be attached.
  int list_image(const Image& image) {
    for (const Program& program : image.programs)
      for (const AttachPoint& point : program.attach)
        if (point.kind != ProbeKind::Begin && point.kind != ProbeKind::End) put(point.name + "\n");
    return 0;
  }

  // --target: compile for the machine that a file describes, and stop there.
  int compile_for_file(uint32_t file, const ScriptText& script) {
    std::optional<std::string> text = read_file(options_.target_file);
    if (!text)
      return report(errno_error(fmt::format("cannot read '{}'", options_.target_file)),
                    kExitScript);
    Result<FileTarget> target = FileTarget::parse(*text);
    if (!target.ok()) return report(target.error(), kExitScript);
    CompileOptions options = compile_options(options_, nullptr, script);
    options.lower.start_ns = 0;
    options.lower.tai_offset_ns = 0;
    options.lower.pid_namespace.reset();
    return compile_script(file, *target, options) ? 0 : kExitScript;
  }

  int run_image(const Compiled& compiled, Child* child) {
    Fd file;
    if (!options_.output.empty()) {
      file = Fd(::open(options_.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
      if (!file.valid())
        return report(errno_error(fmt::format("cannot write '{}'", options_.output)), kExitUsage);
    }
    std::fflush(stdout);
    Sink data(file.valid() ? file.get() : STDOUT_FILENO);
    Sink messages(STDERR_FILENO);
    LiveSymbolizer symbolizer(LiveSymbolizer::Options{.demangles = compiled.config.cpp_demangle});
    ValueContext values{symbolizer, compiled.image.strings, compiled.config.str_trunc_trailer};
    std::unique_ptr<Writer> writer;
    if (options_.is_json)
      writer = std::make_unique<JsonWriter>(data, values);
    else
      writer = std::make_unique<TextWriter>(data, messages, values);

    RunOptions run = run_options(compiled, child);
    run.is_output_closed = [&] { return data.error() != 0; };
    run.look_at_process = [&](pid_t pid) { symbolizer.remember(static_cast<uint32_t>(pid)); };
    std::optional<Refusal> refusal;
    Result<Session> session =
        Session::load({compiled.image, sources_, *writer, values}, std::move(run), &refusal);
    if (!session.ok()) {
      if (refusal) return report_refusal(*refusal, session.error(), sources_, options_.verbose > 0);
      return report(session.error(), kExitKernel);
    }
    if (Status status = session->attach(); !status.ok()) return report(status.error(), kExitKernel);
    Result<int> code = session->loop();
    writer->flush();
    if (!code.ok()) return report(code.error(), kExitKernel);
    if (options_.shows_stats) show_stats(*session, compiled.image);
    return *code;
  }

  RunOptions run_options(const Compiled& compiled, Child* child) const {
    RunOptions run;
    run.pid = options_.pid;
    run.child = child;
    run.load.license = compiled.config.license;
    run.load.log_size = compiled.config.log_size;
    run.max_cat_bytes = compiled.config.max_cat_bytes;
    run.print_maps_on_exit = compiled.config.print_maps_on_exit;
    run.quiet = options_.is_quiet;
    run.warns = !options_.no_warnings;
    run.dry_run = options_.is_dry_run;
    run.stats = options_.shows_stats;
    if (options_.verbose > 0)
      run.say = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
    if (compiled.config.missing_probes != MissingProbes::Error) {
      bool tells = compiled.config.missing_probes == MissingProbes::Warn;
      run.forgive = [tells](const AttachPoint& point, const Error& error) {
        if (tells) fmt::print(stderr, "warning: {} is skipped: {}\n", point.name, error.message());
        return true;
      };
    }
    return run;
  }

  Options options_;
  Sources sources_;
};

// `-l FILE` lists the probes of a script when there is such a file.
bool is_script(const std::string& name) {
  struct stat info;
  return !name.empty() && ::stat(name.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

int list(const Options& options) {
  LiveTarget target(LiveTargetOptions{.pid = options.pid});
  Result<std::string> text = list_probes(target, options.search, options.verbose > 0);
  if (!text.ok()) return report(text.error(), kExitScript);
  put(*text);
  return 0;
}

int docs(const Options& options) {
  Result<std::string> text = write_docs(options.search);
  if (!text.ok()) return report(text.error(), kExitUsage);
  put(*text);
  return 0;
}

}  // namespace

int drive(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // a closed pipe ends the script in order, with its maps read
  Result<Options> options = parse_options(argc, argv);
  if (!options.ok()) return report(options.error(), kExitUsage);
  switch (options->action) {
    case Options::Action::Help: put(help_text()); return 0;
    case Options::Action::Version: put(fmt::format("flowtap v{}\n", FLOWTAP_VERSION)); return 0;
    case Options::Action::Info: put(describe_machine()); return 0;
    case Options::Action::List:
      if (!options->program && !is_script(options->search)) return list(*options);
      if (!options->program) options->script = options->search;
      break;
    case Options::Action::Docs: return docs(*options);
    case Options::Action::Run: break;
  }
  return Driver(std::move(*options)).run();
}

}  // namespace flowtap
