// trace: one line for each call or event, with values the user chooses. Way in: kTrace.
//
//   probe[(signature)] [(filter)] ["format"[, expression...]]

#include <fmt/format.h>

#include "base/text.h"
#include "generic/script_text.h"

namespace flowtap {

namespace {

constexpr OptionSpec kTraceOptions[] = {
    {'p', "pid", Takes::Number, "PID", "only this process"},
    {'L', "tid", Takes::Number, "TID", "only this thread"},
    {'n', "name", Takes::Text, "NAME", "only processes whose name holds this"},
    {0, "uid", Takes::Index, "UID", "only this user"},
    {'M', "max-events", Takes::Number, "N", "end after so many lines"},
    {'t', "timestamp", Takes::Nothing, "", "with seconds since the start"},
    {'T', "time", Takes::Nothing, "", "with the time of day"},
    {'C', "print_cpu", Takes::Nothing, "", "with the CPU"},
    {'K', "kernel-stack", Takes::Nothing, "", "with the kernel stack"},
    {'U', "user-stack", Takes::Nothing, "", "with the user stack"},
    {'Z', "string-size", Takes::Number, "BYTES", "how much of a text is read (default 1024)"},
    {'d', "duration", Takes::Number, "SECONDS", "end after so many seconds"},
};

// What stands before the message: headings, conversions and values.
struct Columns {
  std::string heading, format, values;
  void add(const std::string& title, const std::string& conversion, const std::string& value) {
    size_t width =
        static_cast<size_t>(parse_number(conversion.substr(2, conversion.size() - 3)).value_or(1));
    heading += fmt::format("{:<{}} ", title, width);
    format += conversion + " ";
    values += ", " + value;
  }
};

Columns columns_of(const GenericLine& line) {
  Columns columns;
  if (line.has("time")) columns.add("TIME", "%-8s", "strftime(\"%H:%M:%S\", nsecs)");
  if (line.has("timestamp")) {
    columns.heading += fmt::format("{:<13} ", "TIME");
    columns.format += "%6d.%06d ";
    columns.values += ", elapsed / 1000000000, elapsed / 1000 % 1000000";
  }
  if (line.has("print_cpu")) columns.add("CPU", "%-3d", "cpu");
  columns.add("PID", "%-7d", "pid");
  columns.add("TID", "%-7d", "tid");
  columns.add("COMM", "%-15s", "comm");
  return columns;
}

class TraceWriter {
 public:
  TraceWriter(const GenericLine& line, std::string_view text) : line_(line), text_(text) {}

  Status parse() {
    Result<ProbeSpec> spec = parse_probe_spec(text_);
    if (!spec) return spec.error();
    spec_ = *spec;
    Expressions expressions(spec_);
    expressions.retval_type = "int64";
    size_t at = skip_blanks(spec_.end);
    if (at < text_.size() && text_[at] == '(') {
      size_t close = find_outside(text_, ")", at + 1);
      if (close == text_.size()) return spec_error(text_, at, "there is no ')' for this '('");
      Result<std::string> filter = expressions.rewrite(text_.substr(at + 1, close - at - 1), text_);
      if (!filter) return filter.error();
      filter_ = *filter;
      at = skip_blanks(close + 1);
    }
    if (at < text_.size())
      if (Status status = take_message(at, expressions); !status) return status;
    if (expressions.needs_entry()) entries_ = entry_probe(spec_, expressions);
    forget_ = forget_entry(expressions);
    return Done{};
  }

  const ProbeSpec& spec() const { return spec_; }

  std::string probe(const WriteAttach& attach) const {
    Columns columns = columns_of(line_);
    bool is_function = spec_.kind == SpecKind::Function || spec_.kind == SpecKind::Return;
    std::string name = !spec_.has_glob() ? fmt::format("\"{}\"", spec_.name)
                       : is_function     ? "func"
                                         : "probe";
    columns.add("FUNC", "%-16s", name);
    std::vector<std::string> conditions = common_conditions(line_);
    if (line_.has("name"))
      conditions.push_back(fmt::format("strcontains(comm, \"{}\")", line_.text("name")));
    if (line_.has("max-events"))
      conditions.push_back(fmt::format("@lines < {}", line_.number("max-events")));
    if (!filter_.empty())
      conditions.push_back(conditions.empty() ? filter_ : fmt::format("({})", filter_));
    std::string body = fmt::format("  printf(\"{}{}\\n\"{}{});\n", columns.format, format_,
                                   columns.values, values_);
    if (line_.has("kernel-stack")) body += "  printf(\"%s\\n\", kstack);\n";
    if (line_.has("user-stack")) body += "  printf(\"%s\\n\", ustack);\n";
    if (!forget_.empty()) body += " " + forget_ + "\n";
    if (line_.has("max-events"))
      body += fmt::format("  @lines = count();\n  if (@lines >= {}) {{ exit(); }}\n",
                          line_.number("max-events"));
    return fmt::format("{}{}{} {{\n{}}}\n", entries_, attach(spec_), predicate(conditions), body);
  }

 private:
  size_t skip_blanks(size_t at) const {
    size_t next = text_.find_first_not_of(" \t", at);
    return next == text_.npos ? text_.size() : next;
  }

  Status take_message(size_t at, Expressions& expressions) {
    if (text_[at] != '"')
      return spec_error(text_, at, "a format in double quotes is expected here",
                        "for example: 'do_nanosleep \"mode %d\", arg2'");
    size_t end = at + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return spec_error(text_, at, "this text has no end");
    std::vector<std::string> values;
    size_t next = skip_blanks(end + 1);
    while (next < text_.size()) {
      if (text_[next] != ',')
        return spec_error(text_, next, "',' is expected between format and values");
      size_t stop = find_outside(text_, ",", next + 1);
      Result<std::string> value =
          expressions.rewrite(trim(text_.substr(next + 1, stop - next - 1)), text_);
      if (!value) return value.error();
      values.push_back(*value);
      next = stop;
    }
    return take_format(at, text_.substr(at + 1, end - at - 1), values);
  }

  // %s takes the text at an address, %K and %U the symbol there.
  Status take_format(size_t at, std::string_view format, std::vector<std::string>& values) {
    size_t number = 0;
    for (size_t i = 0; i < format.size(); i++) {
      format_ += format[i];
      if (format[i] != '%') continue;
      if (i + 1 < format.size() && format[i + 1] == '%') {
        format_ += format[++i];
        continue;
      }
      while (i + 1 < format.size() &&
             std::string_view("-+ #0123456789.lhzjt").find(format[i + 1]) != std::string_view::npos)
        format_ += format[++i];
      if (i + 1 == format.size())
        return spec_error(text_, at + 1 + i, "this conversion has no letter");
      char letter = format[++i];
      if (number < values.size()) {
        std::string& value = values[number];
        if (letter == 's') value = fmt::format("str({})", value);
        if (letter == 'K') value = fmt::format("ksym({})", value);
        if (letter == 'U') value = fmt::format("usym({})", value);
      }
      format_ += letter == 'K' || letter == 'U' ? 's' : letter;
      number++;
    }
    if (number != values.size())
      return spec_error(text_, at,
                        fmt::format("the format has {} for {}", counted(number, "conversion"),
                                    counted(values.size(), "value")));
    for (const std::string& value : values) values_ += ", " + value;
    return Done{};
  }

  const GenericLine& line_;
  std::string_view text_;
  ProbeSpec spec_;
  std::string filter_, format_, values_, entries_, forget_;
};

Result<GenericScript> write_trace(const GenericLine& line) {
  if (line.words.empty())
    return Error{"no function or event is named", 0,
                 "for example: trace 't:syscalls:sys_enter_openat \"%s\", args->filename'"};
  if (line.text("name").find_first_of("\"\\\n") != std::string::npos)
    return Error{fmt::format("-n cannot take '{}'", line.text("name"))};
  std::vector<TraceWriter> all;
  bool has_marker = false;
  for (const GenericLine::Word& word : line.words) {
    all.emplace_back(line, word.text);
    if (Status status = all.back().parse(); !status) return status.error();
    has_marker |= all.back().spec().kind == SpecKind::Marker;
  }
  Columns columns = columns_of(line);
  columns.add("FUNC", "%-16s", "");
  GenericScript script{.duration = line.number("duration")};
  script.text = script_head(line, line.number("string-size")) +
                fmt::format("begin {{ printf(\"{}-\\n\"); }}\n", columns.heading) +
                with_namesakes(has_marker, [&](const WriteAttach& attach) {
                  std::string probes;
                  for (const TraceWriter& one : all) probes += one.probe(attach);
                  return probes;
                });
  return script;
}

}  // namespace

const GenericTool kTrace = {
    .name = "trace",
    .summary = "one line for each call or event, with the values asked for",
    .usage = "SPECIFICATION...",
    .description =
        "A specification is a probe, a filter in parentheses and a format with its values, each of "
        "which may be left out: 'do_sys_openat2 \"%s\", arg2@user', 'r::vfs_read ($retval < 0) "
        "\"%d\", "
        "$retval', 't:block:block_rq_complete (args->error) \"%s %d\", args->rwbs, args->error'. "
        "Expressions are C, with the names of a signature, arg1, arg2... and $retval; %s reads the "
        "text at an address, %K and %U show the kernel's and the program's symbol there.\n\n"
        "As BCC's trace, but for -A, -a, -B, -b, -c, -f, -I, -S, -s and -u: flowtap -f chooses the "
        "format, and types of the kernel need no headers.",
    .overhead =
        "0.2 us of CPU time per event of a tracepoint that is shown, 0.06 us per event that "
        "the filter leaves out; 1.1 us per such event in a function of the kernel.",
    .example =
        "flowtap trace -M 3 't:sock:inet_sock_set_state (args->newstate == TCP_ESTABLISHED) \"port "
        "%d\", args->dport'\n"
        "  PID     TID     COMM            FUNC             -\n"
        "  27849   27849   python3         inet_sock_set_state port 49327\n"
        "  27849   27849   python3         inet_sock_set_state port 32866\n"
        "  27849   27849   python3         inet_sock_set_state port 49327",
    .see_also = "argdist, funcslower",
    .options = kTraceOptions,
    .write = write_trace,
};

}  // namespace flowtap
