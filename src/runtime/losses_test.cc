// Counters of sites and what is said about them, when.

#include "runtime/losses.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include "kernel/bpf_for_test.h"
#include "load/maps.h"
#include "output/json_writer.h"
#include "output/test_support.h"
#include "output/text_writer.h"

namespace flowtap {
namespace {

using testing_support::FakeSymbolizer;

TEST(SiteMessage, every_kind_has_one) {
  struct Case {
    Site site;
    SiteCount count;
    const char* text;
    Telling telling = Telling::First;
  };
  const Case cases[] = {
      {{.kind = SiteKind::RingbufFull}, {3, 0}, "3 records lost: the ring buffer was full"},
      {{.kind = SiteKind::ActionLost, .subject = "clear(@n)"},
       {1, 0},
       "clear(@n) was lost once: the ring buffer was full"},
      {{.kind = SiteKind::MapFull, .subject = "@x"},
       {2, -E2BIG},
       "map '@x' is full: 2 updates lost; raise the limit, e.g. --max-keys 50000"},
      {{.kind = SiteKind::MapFull, .subject = "@x"},
       {1, 0},
       "map '@x' lost 1 update: the key was removed at that moment"},
      {{.kind = SiteKind::MapFull, .subject = "@x"},
       {1, -ENOMEM},
       "map '@x' refused 1 update: Cannot allocate memory"},
      {{.kind = SiteKind::DivisionByZero},
       {1, 0},
       "division by zero, once; 1 was taken as the result"},
      {{.kind = SiteKind::IndexOutside, .subject = "int32[4]"},
       {2, -1},
       "an index was outside of 'int32[4]', 2 times (last: -1); 0 was taken"},
      {{.kind = SiteKind::HelperFailed, .subject = "probe_read_user"},
       {5, -EFAULT},
       "'probe_read_user' failed 5 times: Bad address"},
      {{.kind = SiteKind::KeyMissing, .subject = "@x"},
       {2, 0},
       "map '@x' did not have the key, 2 times; 0 was taken"},
      {{.kind = SiteKind::LoopLimit},
       {9, 0},
       "a loop was stopped at its limit, 9 times in all",
       Telling::Total},
      {{.kind = SiteKind::LoopLimit}, {1, 0}, "a loop was stopped at its limit, once"},
      {{.kind = SiteKind::StringCut, .subject = "string"}, {4, 0}, "a string was cut, 4 times"},
      {{.kind = SiteKind::TablesMissing},
       {.count = 3},
       "a stack was taken by frame pointers, 3 times: the unwind tables of the process were not "
       "there yet"},
      {{.kind = SiteKind::PairLost, .subject = "completions"},
       {37, 0},
       "37 completions were not seen: their keys were used again"},
      {{.kind = SiteKind::PairLost, .subject = "completions"},
       {499, 0},
       "499 completions in all were not seen: their keys were used again",
       Telling::Total},
      {{.kind = SiteKind::PairLost, .subject = "completions"},
       {1, 0},
       "1 completion was not seen: its key was used again"},
      {{.kind = SiteKind::StackCut},
       {.count = 1},
       "a stack ends early, once: no unwind table tells the caller"},
      {{.kind = SiteKind::StackLost},
       {1, -EEXIST},
       "a stack could not be taken, once: File exists"},
  };
  for (const Case& c : cases) EXPECT_EQ(site_message(c.site, c.count, c.telling), c.text);
}

class LossesTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_BPF();
    sources_.add("test.bt", "begin { @x[1] = 2 }\n");
    image_.sites = {{.kind = SiteKind::RingbufFull, .span = {0, 0, 5}},
                    {.kind = SiteKind::MapFull, .span = {0, 8, 13}, .subject = "@x"},
                    {.kind = SiteKind::RingbufFull, .span = {0, 0, 5}}};
    image_.maps = {{.name = "sites",
                    .type = MapType::Array,
                    .key_size = 4,
                    .value_size = 3 * kSiteSize,
                    .max_entries = 1}};
    image_.site_map = 0;
    loaded_.maps = std::move(*create_maps(image_));
  }

  void set(std::vector<SiteCount> sites) {
    uint32_t key = 0;
    ASSERT_EQ(::bpf_map_update_elem(loaded_.maps[0].get(), &key, sites.data(), BPF_ANY), 0);
  }
  Losses losses(bool warns = true) { return Losses({image_, sources_, loaded_, writer_, warns}); }
  std::string said() { return std::exchange(out_.buffer(), {}); }

  FakeSymbolizer symbolizer_;
  Sink out_{-1};
  JsonWriter writer_{out_, ValueContext{.symbolizer = symbolizer_}};
  Sources sources_;
  Image image_;
  LoadedImage loaded_;
};

constexpr const char* kLostTwo =
    "{\"type\": \"lost_events\", \"count\": 2, \"data\": {\"events\": 2}}\n";

TEST_F(LossesTest, nothing_lost_says_nothing) {
  Losses losses = this->losses();
  losses.report_new();
  losses.report_all();
  EXPECT_EQ(said(), "");
}

TEST_F(LossesTest, lost_events_are_summed_and_told_once) {
  Losses losses = this->losses();
  set({{1, 0}, {0, 0}, {1, 0}});
  losses.report_new();
  EXPECT_EQ(said(), kLostTwo);
  losses.report_new();
  EXPECT_EQ(said(), "");
  set({{1, 0}, {0, 0}, {3, 0}});
  losses.report_all();
  EXPECT_EQ(said(), kLostTwo);
}

TEST_F(LossesTest, a_site_is_told_when_first_hit_and_at_the_end) {
  Losses losses = this->losses();
  set({{0, 0}, {1, -E2BIG}, {0, 0}});
  losses.report_new();
  EXPECT_NE(said().find("1 update lost"), std::string::npos);
  set({{0, 0}, {5, -E2BIG}, {0, 0}});
  losses.report_new();
  EXPECT_EQ(said(), "");
  losses.report_all();
  std::string text = said();
  EXPECT_NE(text.find("5 updates lost in all"), std::string::npos);
  EXPECT_NE(text.find("\"helper\": \"map_update_elem\", \"retcode\": -7"), std::string::npos);
  EXPECT_NE(text.find("\"line\": 1, \"col\": 9"), std::string::npos);
}

TEST_F(LossesTest, a_tool_is_named_instead_of_its_library) {
  image_.sites[1].span.file = sources_.add("lib.bt", "begin { @x[1] = 2 }\n");
  Losses losses({image_, sources_, loaded_, writer_, true, "biolatency"});
  set({{0, 0}, {1, -E2BIG}, {0, 0}});
  losses.report_all();
  EXPECT_NE(said().find("\"filename\": \"biolatency\", \"line\": 0"), std::string::npos);
}

TEST_F(LossesTest, without_warnings_only_lost_events_are_told) {
  Losses losses = this->losses(false);
  set({{2, 0}, {1, -E2BIG}, {0, 0}});
  losses.report_all();
  EXPECT_EQ(said(), kLostTwo);
}

}  // namespace
}  // namespace flowtap
