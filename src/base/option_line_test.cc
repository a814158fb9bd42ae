#include "base/option_line.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

constexpr OptionSpec kTable[] = {
    {.letter = 'm', .name = "milliseconds"},
    {.letter = 'T', .name = "timestamp"},
    {.letter = 'i', .name = "interval", .takes = Takes::Number, .word = "SECONDS"},
    {.name = "cpu", .takes = Takes::Index, .word = "CPU"},
    {.letter = 'I', .takes = Takes::Text, .word = "PATH", .is_repeatable = true},
    {.name = "errors", .takes = Takes::Maybe},
    {.letter = 'm', .name = "min-ms", .takes = Takes::Number, .word = "N"},
};

// What the reader makes of words: "-i=5 word ..." or the message.
std::string read(std::vector<std::string> words, std::string_view owner = "") {
  OptionReader reader(std::move(words));
  reader.set_owner(owner);
  std::string out;
  while (!reader.is_at_end()) {
    Result<OptionItem> item = reader.next(kTable);
    if (!item) return item.error().message() + "|" + item.error().hint;
    out += (out.empty() ? "" : " ") + item->shown;
    if (item->index) out += "#" + std::to_string(*item->index);
    if (item->value) out += "=" + *item->value;
  }
  return out;
}

TEST(OptionReader, forms_of_options) {
  struct {
    std::vector<std::string> words;
    const char* expected;
  } const cases[] = {
      {{"-mT", "1", "5"}, "-m#0 -T#1 1 5"},
      {{"-i5", "-i", "5"}, "-i#2=5 -i#2=5"},
      {{"-Ti5"}, "-T#1 -i#2=5"},
      {{"--interval=5", "--interval", "5"}, "--interval#2=5 --interval#2=5"},
      {{"--min-ms", "3"}, "--min-ms#6=3"},
      {{"--cpu", "0"}, "--cpu#3=0"},
      {{"-Ia", "-I", "b"}, "-I#4=a -I#4=b"},
      {{"--errors", "--errors=no"}, "--errors#5 --errors#5=no"},
      {{"-", "--", "x"}, "- -- x"},
      {{"-i", "-1"}, "-i takes a positive whole number, found '-1'|"},
      {{"--cpu=x"}, "--cpu takes a number, found 'x'|"},
      {{"-i"}, "option '-i' needs a value|"},
      {{"--timestamp=5"}, "option '--timestamp' takes no value|"},
      {{"-mx"}, "there is no option '-x'|--help shows all options"},
      {{"--intervall"}, "there is no option '--intervall'|did you mean '--interval'?"},
      {{"-i1", "--interval=2"}, "option '--interval' is given twice, with '1' and '2'|"},
  };
  for (const auto& c : cases) EXPECT_EQ(read(c.words), c.expected);
}

TEST(OptionReader, only_options_of_flowtap_may_be_cut_short) {
  EXPECT_EQ(read({"--inter", "3"}), "--inter#2=3");
  EXPECT_EQ(read({"--mi", "3"}), "there is no option '--mi'|--help shows all options");
  EXPECT_EQ(read({"--inter", "3"}, "tcplife"),
            "tcplife has no option '--inter'|flowtap help tcplife shows its options");
  EXPECT_EQ(read({"-x"}, "tcplife"),
            "tcplife has no option '-x'|flowtap help tcplife shows its options");
}

}  // namespace
}  // namespace flowtap
