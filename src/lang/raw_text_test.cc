// Where the parts of a script end that are not tokens, and how attach points divide.

#include "lang/raw_text.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace flowtap {
namespace {

struct Case {
  const char* text;
  const char* expected;
};

TEST(RawText, attach_point_ends) {
  const Case cases[] = {
      {"kprobe:f {", "kprobe:f"},
      {"kprobe:f{", "kprobe:f"},
      {"kprobe:f,kprobe:g", "kprobe:f"},
      {"BEGIN/pid/", "BEGIN"},
      {"uprobe:/bin/x:f /pid/", "uprobe:/bin/x:f"},
      {"uprobe:/lib/*/x:f", "uprobe:/lib/*/x:f"},
      {"u:x:cpp:\"a, b {\\\" }\" {", "u:x:cpp:\"a, b {\\\" }\""},
      {"u:\"open\n{", "u:\"open"},
      {"", ""},
  };
  for (const Case& c : cases)
    EXPECT_EQ(std::string_view(c.text).substr(0, attach_point_end(c.text, 0)), c.expected);
}

TEST(RawText, attach_point_parts) {
  const Case cases[] = {
      {"kprobe:f", "kprobe|f"},
      {"software:faults:", "software|faults|"},
      {"u:x:cpp:\"a::b(\\\"\\\\)\"", "u|x|cpp|a::b(\"\\)"},
      {"u:/bin/\"a:b\"c:f", "u|/bin/a:bc|f"},
      {"u:/bin/x@a.c:12", "u|/bin/x|@a.c|12"},
      {"u:/bin/x@a.c:12:3", "u|/bin/x|@a.c|12|3"},
      {"usdt:/opt/x@1/b:name", "usdt|/opt/x@1/b|name"},
      {"k:f$1", "k|f$1"},
  };
  for (const Case& c : cases) EXPECT_EQ(join(split_attach_point(c.text), "|"), c.expected);
}

TEST(RawText, c_definition_ends) {
  const Case cases[] = {
      {"struct a { int b; }; x", "struct a { int b; };"},
      {"struct a { struct { int b; } c; } k:f {}", "struct a { struct { int b; } c; }"},
      {"enum e { A /* } */ } // no }\n;x", "enum e { A /* } */ } // no }\n;"},
      {"struct a { } __attribute__((packed)) ; x", "struct a { } __attribute__((packed)) ;"},
      {"struct a { } __packed __wide(8);x", "struct a { } __packed __wide(8);"},
      {"struct a { }\nx; y", "struct a { }"},
      {"struct a { } x { y; }", "struct a { }"},
      {"struct a; x", "struct a;"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(std::string_view(c.text).substr(0, c_definition_end(c.text, 0)), c.expected);
  EXPECT_EQ(c_definition_end("struct a { ", 0), std::string_view::npos);
  EXPECT_EQ(c_definition_end("struct a", 0), std::string_view::npos);
}

}  // namespace
}  // namespace flowtap
