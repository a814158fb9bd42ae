// argdist: how values of arguments and results are distributed. Way in: kArgdist.
//
//   probe(signature)[:type[,type...]:expression[,expression...][:filter]][#label]

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "generic/script_text.h"

namespace flowtap {

namespace {

constexpr OptionSpec kArgdistOptions[] = {
    {'H', "histogram", Takes::Words, "", "show histograms of the specifications that follow"},
    {'C', "count", Takes::Words, "", "count the values of the specifications that follow"},
    {'p', "pid", Takes::Number, "PID", "only this process"},
    {'t', "tid", Takes::Number, "TID", "only this thread"},
    {'z', "string-size", Takes::Number, "BYTES", "how much of a text is read (default 1024)"},
    {'i', "interval", Takes::Number, "SECONDS", "report every so many seconds (default 1)"},
    {'d', "duration", Takes::Number, "SECONDS", "end after so many seconds"},
    {'n', "number", Takes::Number, "N", "end after so many reports"},
    {'c', "cumulative", Takes::Nothing, "", "do not begin anew after each report"},
    {'T', "top", Takes::Number, "N", "only the N most frequent values"},
};

struct Distribution {
  ProbeSpec spec;
  bool is_histogram = false;
  std::vector<std::string> values;
  std::string filter;
  std::string map;  // its name
  std::vector<std::string> entries;
  bool uses_latency = false;
};

std::vector<std::string_view> split_outside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t from = 0;;) {
    size_t at = find_outside(text, std::string_view(&separator, 1), from);
    parts.push_back(trim(text.substr(from, at - from)));
    if (at == text.size()) return parts;
    from = at + 1;
  }
}

// A ':' of 'a ? b : c' does not end an expression.
size_t end_of_expression(std::string_view text, size_t from) {
  int open = 0;
  for (size_t at = from;; at++) {
    at = find_outside(text, "?:", at);
    if (at == text.size()) return at;
    if (text[at] == '?')
      open++;
    else if (open-- == 0)
      return at;
  }
}

// A name for the map: the last word of what is shown.
std::string map_name(std::string_view expression, const std::vector<Distribution>& others) {
  std::string name, word;
  for (char c : std::string(expression) + " ") {
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (is_letter || (!word.empty() && c >= '0' && c <= '9')) {
      word += c;
    } else if (!word.empty()) {
      name = word;
      word.clear();
    }
  }
  if (name.empty() || name == "start" || name.starts_with("entry")) name = "value";
  auto is_taken = [&](const std::string& n) {
    return std::any_of(others.begin(), others.end(),
                       [&](const Distribution& other) { return other.map == n; });
  };
  std::string unique = name;
  for (int i = 2; is_taken(unique); i++) unique = fmt::format("{}{}", name, i);
  return unique;
}

class DistributionParser {
 public:
  DistributionParser(std::string_view text, bool is_histogram,
                     const std::vector<Distribution>& others)
      : text_(text), others_(others) {
    out_.is_histogram = is_histogram;
  }

  Result<Distribution> parse() {
    Result<ProbeSpec> spec = parse_probe_spec(text_);
    if (!spec) return spec.error();
    out_.spec = *spec;
    size_t at = spec->end, hash = find_outside(text_, "#", at);
    label_ = trim(text_.substr(std::min(hash + 1, text_.size())));
    body_ = text_.substr(0, hash);
    if (at < body_.size() && body_[at] != ':')
      return spec_error(text_, at, "':' is expected behind the probe",
                        "write it as p::tcp_sendmsg(struct sock *sk, struct msghdr *m, size_t n):"
                        "int:n");
    if (Status status = at == body_.size() ? take_default() : take_parts(at + 1); !status)
      return status.error();
    return std::move(out_);
  }

 private:
  // Without an expression: what a function returns, or how often it is called.
  Status take_default() {
    bool is_return = out_.spec.kind == SpecKind::Return;
    if (!is_return && out_.is_histogram)
      return spec_error(text_, text_.size(), "a histogram needs a value",
                        "add its type and an expression, such as ':u32:args->bytes'");
    if (is_return) out_.values.push_back("(int64)retval");
    name(is_return ? "retval" : "calls");
    return Done{};
  }

  Status take_parts(size_t at) {
    size_t types_end = find_outside(body_, ":", at);
    if (types_end == body_.size())
      return spec_error(text_, body_.size(), "the expression is missing",
                        "a type is followed by ':' and an expression");
    std::vector<std::string_view> types = split_outside(body_.substr(at, types_end - at), ',');
    size_t values_at = types_end + 1, values_end = end_of_expression(body_, values_at);
    std::vector<std::string_view> values =
        split_outside(body_.substr(values_at, values_end - values_at), ',');
    if (types.size() != values.size())
      return spec_error(text_, values_at,
                        fmt::format("found {} for {}", counted(types.size(), "type"),
                                    counted(values.size(), "expression")),
                        "each expression has its type: ':u32,u64:a,b'");
    if (out_.is_histogram && values.size() > 1)
      return spec_error(text_, values_at, "a histogram shows one value",
                        "count several with -C, or give each its own specification");
    Expressions expressions(out_.spec);
    for (size_t i = 0; i < values.size(); i++)
      if (values[i] == "$retval") expressions.retval_type = types[i];
    for (size_t i = 0; i < values.size(); i++) {
      if (values[i].empty()) return spec_error(text_, values_at, "the expression is missing");
      Result<std::string> value = expressions.rewrite(values[i], text_);
      if (!value) return value.error();
      out_.values.push_back(as_type(*value, types[i], out_.spec));
    }
    if (values_end < body_.size()) {
      Result<std::string> filter = expressions.rewrite(trim(body_.substr(values_end + 1)), text_);
      if (!filter) return filter.error();
      out_.filter = *filter;
    }
    out_.entries = expressions.entries;
    out_.uses_latency = expressions.uses_latency;
    name(values[0]);
    return Done{};
  }

  void name(std::string_view fallback) {
    out_.map = map_name(label_.empty() ? fallback : label_, others_);
  }

  std::string_view text_, body_, label_;
  const std::vector<Distribution>& others_;
  Distribution out_;
};

std::string probe_text(const Distribution& distribution, const GenericLine& line,
                       const WriteAttach& attach) {
  const ProbeSpec& spec = distribution.spec;
  Expressions kept(spec);
  kept.entries = distribution.entries;
  kept.uses_latency = distribution.uses_latency;
  std::vector<std::string> conditions = common_conditions(line);
  if (kept.uses_latency) conditions.push_back("@start[tid]");
  std::string update =
      distribution.is_histogram
          ? fmt::format("@{} = hist({});", distribution.map, distribution.values[0])
      : distribution.values.empty()
          ? fmt::format("@{} = count();", distribution.map)
          : fmt::format("@{}[{}] = count();", distribution.map, join(distribution.values, ", "));
  // What was kept must be deleted whether the filter lets the value through or not.
  if (kept.needs_entry() && !distribution.filter.empty())
    update = fmt::format("if ({}) {{ {} }}", distribution.filter, update);
  else if (!distribution.filter.empty())
    conditions.push_back(conditions.empty() ? distribution.filter
                                            : fmt::format("({})", distribution.filter));
  return fmt::format("{}{}{} {{ {}{} }}\n", entry_probe(spec, kept), attach(spec),
                     predicate(conditions), update, forget_entry(kept));
}

Result<GenericScript> write_argdist(const GenericLine& line) {
  if (line.words.empty())
    return Error{"no specification is given", 0,
                 "for example: argdist -H 't:block:block_rq_issue():u32:args->bytes'"};
  std::vector<Distribution> all;
  bool has_marker = false;
  for (const GenericLine::Word& word : line.words) {
    if (!word.group)
      return Error{fmt::format("'{}' stands behind neither -H nor -C", word.text), 0,
                   "-H shows histograms, -C counts"};
    Result<Distribution> one = DistributionParser(word.text, word.group == 'H', all).parse();
    if (!one) return one.error();
    has_marker |= one->spec.kind == SpecKind::Marker;
    all.push_back(std::move(*one));
  }
  int64_t interval = line.number("interval", 1);
  GenericScript script{.duration = line.number("duration")};
  if (line.has("number")) script.duration = interval * line.number("number");
  std::string maps, report;
  for (const Distribution& one : all) {
    std::string top = line.has("top") && !one.is_histogram && !one.values.empty()
                          ? fmt::format(", {}", line.number("top"))
                          : "";
    report += fmt::format("  print(@{}{});\n", one.map, top);
    if (!line.has("cumulative")) maps += per_report(one.map);
  }
  script.text = script_head(line, line.number("string-size")) + maps +
                with_namesakes(has_marker,
                               [&](const WriteAttach& attach) {
                                 std::string probes;
                                 for (const Distribution& one : all)
                                   probes += probe_text(one, line, attach);
                                 return probes;
                               }) +
                report_probe(line, interval, "  time(\"[%H:%M:%S]\\n\");\n" + report);
  return script;
}

}  // namespace

const GenericTool kArgdist = {
    .name = "argdist",
    .summary = "values of arguments, results and fields of events, counted or as histograms",
    .usage = "-H|-C SPECIFICATION...",
    .description =
        "A specification is a probe, and behind it types, expressions and a filter: "
        "'p::tcp_sendmsg(struct sock *sk, struct msghdr *m, size_t size):u64:size', "
        "'r::tcp_recvmsg():int:$retval:$retval>0', 't:block:block_rq_issue():u32:args->bytes'. "
        "Expressions are C, with the names of the signature, arg1, arg2..., $retval, $latency "
        "(nanoseconds in the function) and $entry(size), an argument at a return. Types of text "
        "are char*. '#name' at the end names the result.\n\n"
        "As BCC's argdist, but for -I: types of the kernel need no headers.",
    .overhead =
        "0.12 us of CPU time per event of a tracepoint with -C, 0.07 us with -H; 2.1 us with "
        "-C in a function of the kernel.",
    .example =
        "flowtap argdist -i 10 -H 't:sock:sock_send_length():int:args->ret:args->ret>0'\n"
        "  [13:38:27]\n"
        "  @ret:\n"
        "  [64, 128)              6 |@@@@@@@                                             |\n"
        "  [128, 256)             6 |@@@@@@@                                             |\n"
        "  [256, 512)            18 |@@@@@@@@@@@@@@@@@@@@@@@                             |\n"
        "  [512, 1K)             10 |@@@@@@@@@@@@@                                       |\n"
        "  [1K, 2K)               0 |                                                    |\n"
        "  [2K, 4K)              40 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|",
    .see_also = "funccount, trace, funclatency",
    .options = kArgdistOptions,
    .write = write_argdist,
};

}  // namespace flowtap
