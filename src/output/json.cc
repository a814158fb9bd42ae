// Values as JSON. Ways in: append_json(), append_json_entry(), append_json_key().
// Numbers stay numbers (pointers and enums too), structures become arrays and objects, and
// everything that user space resolves is the string that text mode would show.

#include "output/json.h"

#include "output/histogram.h"
#include "output/json_string.h"
#include "output/stats_text.h"
#include "output/tseries.h"
#include "output/value_text.h"
#include "output/value_visitor.h"

namespace flowtap {

namespace {

class JsonValues : public ValueVisitor {
 public:
  JsonValues(std::string& out, const ValueContext& context) : out_(out), context_(context) {}

 private:
  void none() override { out_ += "null"; }
  void boolean(bool is_true) override { out_ += is_true ? "true" : "false"; }
  void number(Scalar number) override { append_json_number(out_, number); }
  void enumerator(const Type&, Scalar number) override { append_json_number(out_, number); }
  void pointer(Scalar address) override { append_json_number(out_, address); }
  void string(std::string_view text, bool is_cut) override;
  void buffer(Bytes payload) override;
  void looked_up(const Type& type, Bytes bytes) override;
  void begin(const Type& type) override { out_ += has_names(type) ? '{' : '['; }
  void member(const Type& type, size_t index) override;
  void end(const Type& type) override { out_ += has_names(type) ? '}' : ']'; }
  void stats(const Type& type, Bytes bytes, uint64_t div) override {
    append_stats_json(out_, type, bytes, div);
  }
  void histogram(const Type& type, Bytes bytes, uint64_t div) override {
    append_histogram_json(out_, type, bytes, div);
  }
  void series(const Type& type, Bytes bytes) override {
    append_tseries_json(out_, type, bytes, context_);
  }

  static bool has_names(const Type& type) {
    return is(type, Kind::Struct) || is(type, Kind::Record);
  }

  std::string& out_;
  const ValueContext& context_;
};

void JsonValues::string(std::string_view text, bool is_cut) {
  size_t start = out_.size();
  out_ += text;
  if (is_cut) out_ += context_.cut_trailer;
  quote_tail(out_, start);
}

void JsonValues::buffer(Bytes payload) {
  out_ += '[';
  for (const std::byte& byte : payload) {
    if (&byte != &payload.front()) out_ += ',';
    append_number(out_, {std::to_integer<uint64_t>(byte), false});
  }
  out_ += ']';
}

void JsonValues::looked_up(const Type& type, Bytes bytes) {
  size_t start = out_.size();
  append_text(out_, type, bytes, context_);
  quote_tail(out_, start);
}

void JsonValues::member(const Type& type, size_t index) {
  if (index > 0) out_ += has_names(type) ? ", " : ",";
  if (!has_names(type)) return;
  append_json_string(out_, type->fields[index].name);
  out_ += ": ";
}

}  // namespace

void append_histogram_json(std::string& out, const Type& type, Bytes bytes, uint64_t div) {
  const char* separator = "[{";
  for (const CountedBucket& bucket : counted_buckets(type, bytes, div)) {
    out += separator;
    if (bucket.min) append_json_number(out += "\"min\": ", *bucket.min), out += ", ";
    if (bucket.max) append_json_number(out += "\"max\": ", *bucket.max), out += ", ";
    append_json_number(out += "\"count\": ", bucket.count);
    separator = "},{";
  }
  out += *separator == '[' ? "[]" : "}]";
}

void append_stats_json(std::string& out, const Type& type, Bytes bytes, uint64_t div) {
  StatsNumbers stats = stats_of(type, bytes, div);
  append_json_number(out += "{\"count\": ", stats.count);
  append_json_number(out += ", \"average\": ", stats.average);
  append_json_number(out += ", \"total\": ", stats.total);
  out += '}';
}

void append_tseries_json(std::string& out, const Type& type, Bytes bytes,
                         const ValueContext& context) {
  const char* separator = "";
  out += '[';
  for (const SeriesPoint& point : series_points(type, bytes, context)) {
    out.append(separator).append("{\"interval_start\":\"").append(point.start);
    append_json_number(out += "\",\"value\":", point.value);
    out += '}';
    separator = ",";
  }
  out += ']';
}

void append_json(std::string& out, const Type& type, Bytes bytes, const ValueContext& context) {
  JsonValues(out, context).visit(type, bytes);
}

void append_json_entry(std::string& out, const MapContent& map, Bytes value,
                       const ValueContext& context) {
  JsonValues(out, context).visit_entry(map, value);
}

void append_json_key(std::string& out, const Type& type, Bytes bytes, const ValueContext& context) {
  size_t start = out.size();
  append_key(out, type, bytes, context, TextStyle::Compact);
  quote_tail(out, start);
}

}  // namespace flowtap
