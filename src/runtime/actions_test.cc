// Records made by hand and what they make the writers say.

#include "runtime/actions.h"

#include <gtest/gtest.h>

#include "base/test_directory.h"
#include "output/json_writer.h"
#include "output/test_support.h"
#include "output/text_writer.h"

namespace flowtap {
namespace {

using testing_support::BytesOf;
using testing_support::FakeSymbolizer;

class ActionsTest : public testing::Test {
 protected:
  ActionsTest() { sources_.add("test.bt", "begin { errorf(\"x\"); }\n"); }

  // Adds an event whose arguments follow each other, and gives its record without them.
  BytesOf event(EventKind kind, const std::string& format, std::vector<Type> types) {
    Event event{.kind = kind, .span = {0, 8, 19}, .format = *parse_format(format)};
    for (Type& type : types) {
      event.args.push_back({.type = type, .offset = event.size});
      event.size += type->size;
    }
    image_.events.push_back(std::move(event));
    return BytesOf().u32(static_cast<uint32_t>(image_.events.size() - 1)).u32(0);
  }
  Event& last() { return image_.events.back(); }

  Actions& actions() {
    if (!actions_) {
      writer_.emplace(out_, diagnostics_, context_);
      actions_.emplace(ActionInput{.image = image_,
                                   .sources = sources_,
                                   .maps = maps_,
                                   .writer = *writer_,
                                   .values = context_,
                                   .max_cat_bytes = 5,
                                   .unwatch = [this](uint64_t address) { unwatched_ = address; }});
    }
    return *actions_;
  }
  std::string text_of(const BytesOf& record) {
    actions().take(record);
    return std::exchange(out_.buffer(), {});
  }

  FakeSymbolizer symbolizer_;
  ValueContext context_{.symbolizer = symbolizer_};
  Sink out_{-1}, diagnostics_{-1};
  Sources sources_;
  Image image_;
  std::vector<Fd> maps_;
  uint64_t unwatched_ = 0;
  std::optional<TextWriter> writer_;
  std::optional<Actions> actions_;
};

TEST_F(ActionsTest, printf_and_print) {
  EXPECT_EQ(text_of(event(EventKind::Printf, "n=%d\n", {int_type(8, true)}).s64(-4)), "n=-4\n");
  EXPECT_EQ(text_of(event(EventKind::PrintValue, "", {string_type(8)}).text("hi", 8)), "hi\n");
}

TEST_F(ActionsTest, messages_name_their_place) {
  EXPECT_EQ(text_of(event(EventKind::Errorf, "bad %d", {int_type(4, true)}).u32(1)), "");
  EXPECT_EQ(diagnostics_.buffer(), "test.bt:1:9-20: ERROR: bad 1\n");
  EXPECT_EQ(actions().errors(), 1u);
  diagnostics_.buffer().clear();
  text_of(event(EventKind::Warnf, "careful", {}));
  EXPECT_EQ(diagnostics_.buffer(), "test.bt:1:9-20: WARNING: careful\n");
  EXPECT_EQ(actions().errors(), 1u);
}

TEST_F(ActionsTest, time_is_now) {
  BytesOf record = event(EventKind::Time, "", {});
  last().text = "%Y\n";
  std::string text = text_of(record);
  EXPECT_EQ(text.size(), 5u);
  EXPECT_TRUE(text.starts_with("20"));
}

TEST_F(ActionsTest, cat_stops_at_its_limit) {
  TestDirectory directory;
  directory.write("file", "abcdefgh");
  std::string format = directory.path() + "/%s";
  EXPECT_EQ(text_of(event(EventKind::Cat, format, {string_type(8)}).text("file", 8)), "abcde");
  EXPECT_EQ(text_of(event(EventKind::Cat, format, {string_type(8)}).text("none", 8)), "");
  EXPECT_TRUE(diagnostics_.buffer().starts_with("test.bt:1:9-20: warning: cannot open '"));
  EXPECT_EQ(actions().errors(), 1u);
}

TEST_F(ActionsTest, join_stops_at_the_first_empty_string) {
  BytesOf record = event(EventKind::Join, "", {array_type(string_type(4), 4)});
  last().text = "-";
  EXPECT_EQ(text_of(record.text("ls", 4).text("-l", 4).text("", 4).text("no", 4)), "ls--l\n");
  BytesOf all = event(EventKind::Join, "", {array_type(string_type(2), 2)});
  last().text = " ";
  EXPECT_EQ(text_of(all.text("a", 2).text("b", 2)), "a b\n");
}

TEST_F(ActionsTest, system_writes_what_the_command_wrote) {
  EXPECT_EQ(text_of(event(EventKind::System, "echo %d; echo b", {int_type(8, false)}).u64(3)),
            "3\nb\n\n");
  EXPECT_EQ(text_of(event(EventKind::System, "exit 3", {})), "\n");
}

TEST_F(ActionsTest, exit_drops_what_follows_until_resumed) {
  BytesOf print = event(EventKind::PrintValue, "", {int_type(1, false)}).u8(5);
  BytesOf exit = event(EventKind::Exit, "", {});
  EXPECT_EQ(text_of(print), "5\n");
  EXPECT_FALSE(actions().has_left());
  text_of(exit);
  EXPECT_TRUE(actions().has_left());
  EXPECT_EQ(text_of(print), "");
  actions().resume();
  EXPECT_EQ(text_of(print), "5\n");
  EXPECT_FALSE(actions().has_left());
}

TEST_F(ActionsTest, unwatch_passes_the_address_on) {
  text_of(event(EventKind::Unwatch, "", {int_type(8, false)}).u64(0x1000));
  EXPECT_EQ(unwatched_, 0x1000u);
}

TEST_F(ActionsTest, records_that_make_no_sense_are_counted) {
  BytesOf record = event(EventKind::PrintValue, "", {int_type(8, false)});
  text_of(record.u32(1));                    // 4 bytes short
  text_of(BytesOf().u32(99).u32(0).u64(1));  // no such event
  text_of(BytesOf().u32(0));                 // not even a header
  text_of(BytesOf());
  EXPECT_EQ(actions().bad_records(), 4u);
  EXPECT_EQ(out_.buffer(), "");
}

}  // namespace
}  // namespace flowtap
