// One script's records through both writers.

#include "output/writer.h"

#include <gtest/gtest.h>

#include <functional>

#include "output/json_writer.h"
#include "output/test_support.h"
#include "output/text_writer.h"

namespace flowtap {
namespace {

using namespace testing_support;

struct Case {
  const char* name;
  std::function<void(Writer&)> write;
  std::string data;
  std::string diagnostics;
  std::string json;
};

const Type kInt32 = int_type(4, true);
const Place kPlace{
    .file = "x.bt", .line = 1, .column = 9, .end_column = 28, .excerpt = "  1 | @x = 1\n"};

class WriterTest : public testing::Test {
 protected:
  void check(const std::vector<Case>& cases) {
    for (const Case& c : cases) {
      Sink data(-1), diagnostics(-1), json(-1);
      TextWriter text_writer(data, diagnostics, context_);
      JsonWriter json_writer(json, context_);
      c.write(text_writer);
      c.write(json_writer);
      EXPECT_EQ(data.buffer(), c.data) << c.name;
      EXPECT_EQ(diagnostics.buffer(), c.diagnostics) << c.name;
      EXPECT_EQ(json.buffer(), c.json) << c.name;
    }
  }

  FakeSymbolizer symbolizer_;
  ValueContext context_{symbolizer_, {}};
  std::vector<FormatPiece> format_ = *parse_format("bad \"%d\"");
  std::vector<Field> args_ = {{.name = "0", .type = kInt32, .offset = 8}};
  BytesOf record_ = BytesOf().u64(0).u32(3);
  FormatCall call_{format_, args_, record_};
};

TEST_F(WriterTest, what_the_script_writes) {
  BytesOf two = BytesOf().u32(2);
  std::vector<MapEntry> entries = {{Bytes(), two}};
  MapContent map{.name = "@a", .value = kInt32, .entries = entries};
  check({
      {"printf", [&](Writer& w) { w.printf(call_); }, "bad \"3\"", "",
       R"({"type": "printf", "data": "bad \"3\""})"
       "\n"},
      {"time", [](Writer& w) { w.time("04\n"); }, "04\n", "",
       "{\"type\": \"time\", \"data\": \"04\\n\"}\n"},
      {"cat", [](Writer& w) { w.cat("Linux\n"); }, "Linux\n", "",
       "{\"type\": \"cat\", \"data\": \"Linux\\n\"}\n"},
      {"join", [](Writer& w) { w.join("a b"); }, "a b\n", "",
       "{\"type\": \"join\", \"data\": \"a b\"}\n"},
      {"system", [](Writer& w) { w.system("out"); }, "out\n", "",
       "{\"type\": \"syscall\", \"data\": \"out\"}\n"},
      {"value", [&](Writer& w) { w.value(kInt32, two); }, "2\n", "",
       "{\"type\": \"value\", \"data\": 2}\n"},
      {"map", [&](Writer& w) { w.map(map); }, "@a: 2\n", "",
       "{\"type\": \"map\", \"data\": {\"@a\": 2}}\n"},
  });
}

// The format is the script's, the name is that of a traced process.
TEST_F(WriterTest, terminals_show_traced_text_and_obey_the_script) {
  std::vector<FormatPiece> format = *parse_format("\x1b[1m%s|%c\n");
  std::vector<Field> args = {{.name = "0", .type = string_type(8), .offset = 0},
                             {.name = "1", .type = int_type(1, false), .offset = 8}};
  BytesOf record = BytesOf().text("\x1b[m\n\xff", 8).u8(7), two = BytesOf().u32(2);
  std::vector<MapEntry> entries = {{record, two}};
  auto write = [&](Writer& w) {
    w.printf({format, args, record});
    w.map({.name = "@", .key = string_type(8), .value = kInt32, .entries = entries});
    w.join("a\x1b\n");
    w.cat("a\x1b\n");
    w.system("\x1b[H");
    w.warnf(kPlace, {format, args, record});
  };
  Sink terminal(-1, true), messages(-1, true), pipe(-1), log(-1);
  TextWriter shown(terminal, messages, context_), piped(pipe, log, context_);
  write(shown);
  write(piped);
  EXPECT_EQ(terminal.buffer(),
            "\x1b[1m\\x1b[m\n\\xff|\\x07\n"
            "@[\\x1b[m\\x0a\\xff]: 2\n"
            "a\\x1b\\x0a\n"
            "a\\x1b\n"
            "\x1b[H\n");
  EXPECT_EQ(messages.buffer(), "x.bt:1:9-28: WARNING: \x1b[1m\\x1b[m\n\\xff|\\x07\n\n");
  EXPECT_EQ(pipe.buffer(),
            "\x1b[1m\x1b[m\n\xff|\x07\n@[\x1b[m\n\xff]: 2\na\x1b\n\na\x1b\n\x1b[H\n");
  EXPECT_EQ(log.buffer(), "x.bt:1:9-28: WARNING: \x1b[1m\x1b[m\n\xff|\x07\n\n");
}

TEST_F(WriterTest, messages_of_the_script) {
  check({
      {"errorf", [&](Writer& w) { w.errorf(kPlace, call_); }, "", "x.bt:1:9-28: ERROR: bad \"3\"\n",
       R"({"type": "errorf", "msg": "bad \"3\"", "filename": "x.bt", "line": 1, "col": 9})"
       "\n"},
      {"warnf", [&](Writer& w) { w.warnf(kPlace, call_); }, "", "x.bt:1:9-28: WARNING: bad \"3\"\n",
       R"({"type": "warnf", "msg": "bad \"3\"", "filename": "x.bt", "line": 1, "col": 9})"
       "\n"},
  });
}

TEST_F(WriterTest, messages_about_the_run) {
  HelperError error{.message = "map '@x' is full", .helper = "map_update_elem", .code = -7};
  check({
      {"attached_one", [](Writer& w) { w.attached_probes(1); }, "", "Attached 1 probe\n",
       "{\"type\": \"attached_probes\", \"count\": 1, \"data\": {\"probes\": 1}}\n"},
      {"attached_two", [](Writer& w) { w.attached_probes(2); }, "", "Attached 2 probes\n",
       "{\"type\": \"attached_probes\", \"count\": 2, \"data\": {\"probes\": 2}}\n"},
      {"helper_error", [&](Writer& w) { w.helper_error(kPlace, error); }, "",
       "x.bt:1:9-28: warning: map '@x' is full\n  1 | @x = 1\nnote: helper 'map_update_elem' "
       "returned -7\n",
       R"({"type": "helper_error", "msg": "map '@x' is full", "helper": "map_update_elem", "retcode": -7, )"
       R"("filename": "x.bt", "line": 1, "col": 9})"
       "\n"},
      {"runtime_error", [&](Writer& w) { w.runtime_error(kPlace, "division by 0"); }, "",
       "x.bt:1:9-28: warning: division by 0\n  1 | @x = 1\n",
       R"({"type": "runtime_error", "msg": "division by 0", "filename": "x.bt", "line": 1, "col": 9})"
       "\n"},
      {"no_place", [](Writer& w) { w.runtime_error(Place{}, "a file is left out"); }, "",
       "warning: a file is left out\n",
       R"({"type": "runtime_error", "msg": "a file is left out", "filename": "", "line": 0, "col": 0})"
       "\n"},
      {"tool", [](Writer& w) { w.runtime_error(Place{.file = "biotop"}, "a file is left out"); },
       "", "biotop: warning: a file is left out\n",
       R"({"type": "runtime_error", "msg": "a file is left out", "filename": "biotop", "line": 0, "col": 0})"
       "\n"},
      {"lost", [](Writer& w) { w.lost_events(3); }, "", "Lost 3 events\n",
       "{\"type\": \"lost_events\", \"count\": 3, \"data\": {\"events\": 3}}\n"},
      {"end_of_events", [](Writer& w) { w.end_of_events(); }, "\n\n", "", ""},
  });
}

}  // namespace
}  // namespace flowtap
