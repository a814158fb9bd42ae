// Maps of the running kernel as they are printed, and the actions that change them.

#include "runtime/map_output.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>

#include "kernel/bpf_for_test.h"
#include "kernel/machine.h"
#include "load/maps.h"
#include "output/test_support.h"
#include "output/text_writer.h"
#include "read/mapped_memory.h"
#include "runtime/actions.h"
#include "types/hot_keys.h"

namespace flowtap {
namespace {

using testing_support::aggregation;
using testing_support::BytesOf;
using testing_support::FakeSymbolizer;

class MapOutputTest : public testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_BPF();
    sources_.add("test.bt", "begin { }\n");
  }

  void make(MapDef map, std::vector<MapDef> others = {}) {
    map.is_script_map = true;
    image_.maps = {std::move(map)};
    image_.maps.insert(image_.maps.end(), others.begin(), others.end());
    Result<std::vector<Fd>> made = create_maps(image_);
    ASSERT_TRUE(made) << made.error().message();
    maps_ = std::move(*made);
  }
  // @calls[k] = count(), with k + 1 counted on every CPU.
  void make_counts(uint64_t keys) {
    make({.name = "@calls",
          .type = MapType::PercpuHash,
          .key_size = 8,
          .value_size = 8,
          .max_entries = 100,
          .key = int_type(8, true),
          .value = aggregation(Kind::Count)});
    for (uint64_t key = 0; key < keys; key++) {
      std::vector<uint64_t> values(count_possible_cpus(), key + 1);
      ASSERT_EQ(::bpf_map_update_elem(maps_[0].get(), &key, values.data(), BPF_ANY), 0);
    }
  }

  // @calls[k] = avg(), whose key 7 is in the map with 10 in 2 events of the first CPU.
  void make_hot_averages() {
    make({.name = "@calls",
          .type = MapType::Hash,
          .key_size = 8,
          .value_size = kCacheLine * 2,
          .max_entries = 100,
          .lane = kCacheLine,
          .hot_keys = 1,
          .key = int_type(8, true),
          .value = aggregation(Kind::Avg)},
         {{.name = "hot_calls",
           .type = MapType::Array,
           .key_size = 4,
           .value_size = kHotSlots * hot_slot_size(8),
           .max_entries = 1,
           .is_mapped = true}});
    uint64_t key = 7, value[kCacheLine / 4] = {};
    value[kCacheLine / 8] = 10, value[kCacheLine / 8 + 1] = 2;
    ASSERT_EQ(::bpf_map_update_elem(maps_[0].get(), &key, value, BPF_ANY), 0);
  }
  // As a program leaves them: so much in so many events.
  void count_hot(uint32_t slot, uint64_t key, uint64_t total, uint64_t events) {
    Result<MappedMemory> memory =
        MappedMemory::open(maps_[1].get(), image_.maps[1].value_size, PROT_READ | PROT_WRITE, 0);
    ASSERT_TRUE(memory) << memory.error().message();
    std::span<std::byte> bytes = memory->bytes().subspan(slot * hot_slot_size(8), kHotKey + 8);
    store(bytes, 0, HotState::Used);
    store(bytes, kHotValue, load<uint64_t>(bytes, kHotValue) + total);
    store(bytes, kHotValue + 8, load<uint64_t>(bytes, kHotValue + 8) + events);
    store(bytes, kHotKey, key);
  }
  HotState state_of(uint32_t slot) {
    uint32_t first = 0;
    std::vector<std::byte> bytes(image_.maps[1].value_size);
    EXPECT_EQ(::bpf_map_lookup_elem(maps_[1].get(), &first, bytes.data()), 0);
    return load<HotState>(bytes, slot * hot_slot_size(8));
  }

  std::string written(MapView view = {}) {
    Status done = write_map({image_, maps_}, 0, view, {writer_, context_});
    EXPECT_TRUE(done) << done.error().message();
    return std::exchange(out_.buffer(), {});
  }
  // Lets an event act on the map.
  std::string act(EventKind kind, std::vector<uint64_t> args = {}) {
    Event event{.kind = kind, .map = 0};
    BytesOf record = BytesOf().u32(0).u32(0);
    for (uint64_t arg : args) {
      event.args.push_back({.type = int_type(8, true), .offset = event.size});
      event.size += 8;
      record.u64(arg);
    }
    image_.events = {event};
    Actions actions({.image = image_,
                     .sources = sources_,
                     .maps = maps_,
                     .writer = writer_,
                     .values = context_});
    actions.take(record);
    EXPECT_EQ(actions.errors(), 0u);
    return std::exchange(out_.buffer(), {});
  }
  std::string count_of(uint64_t per_cpu) { return std::to_string(per_cpu * count_possible_cpus()); }

  FakeSymbolizer symbolizer_;
  ValueContext context_{.symbolizer = symbolizer_};
  Sink out_{-1}, diagnostics_{-1};
  TextWriter writer_{out_, diagnostics_, context_};
  Sources sources_;
  Image image_;
  std::vector<Fd> maps_;
};

TEST_F(MapOutputTest, per_cpu_values_are_merged) {
  make_counts(2);
  EXPECT_EQ(written(), "@calls[0]: " + count_of(1) + "\n@calls[1]: " + count_of(2) + "\n");
}

TEST_F(MapOutputTest, a_map_without_keys_has_one_value) {
  make({.name = "@n",
        .type = MapType::Array,
        .key_size = 4,
        .value_size = 8,
        .max_entries = 1,
        .value = int_type(4, true)});
  EXPECT_EQ(written(), "@n: 0\n");
}

TEST_F(MapOutputTest, a_map_that_was_never_made_prints_nothing) {
  make({.name = "@never"});
  EXPECT_EQ(written(), "");
  EXPECT_EQ(act(EventKind::ClearMap), "");
}

TEST_F(MapOutputTest, print_takes_top_and_div) {
  make_counts(3);
  EXPECT_EQ(act(EventKind::PrintMap, {1}), "@calls[2]: " + count_of(3) + "\n");
  EXPECT_EQ(act(EventKind::PrintMap, {1, 3}), "@calls[2]: " + count_of(1) + "\n");
  EXPECT_EQ(act(EventKind::PrintMap), written());
}

TEST_F(MapOutputTest, print_may_take_what_it_prints) {
  make_counts(3);
  EXPECT_EQ(written({.top = 1, .takes = true}), "@calls[2]: " + count_of(3) + "\n");
  EXPECT_EQ(written(), "");
}

TEST_F(MapOutputTest, more_keys_than_one_piece_are_taken) {
  make_counts(90);
  EXPECT_EQ(std::ranges::count(written({.takes = true}), '\n'), 90);
  EXPECT_EQ(written(), "");
}

TEST_F(MapOutputTest, zero_keeps_keys_and_clear_does_not) {
  make_counts(2);
  act(EventKind::ZeroMap);
  EXPECT_EQ(written(), "@calls[0]: 0\n@calls[1]: 0\n");
  act(EventKind::ClearMap);
  EXPECT_EQ(written(), "");
}

TEST_F(MapOutputTest, hot_keys_are_added_to_those_of_the_map) {
  make_hot_averages();
  count_hot(3, 7, 50, 1);
  count_hot(4, 8, 2, 2);
  count_hot(kHotSlots - 1, 8, 9, 1);
  count_hot(5, 9, 0, 0);  // nothing yet
  EXPECT_EQ(written(), "@calls[8]: 3\n@calls[7]: 20\n");
  EXPECT_EQ(written(), "@calls[8]: 3\n@calls[7]: 20\n");
  EXPECT_EQ(state_of(3), HotState::Used);
}

TEST_F(MapOutputTest, hot_keys_are_taken_once) {
  make_hot_averages();
  count_hot(3, 7, 50, 1);
  EXPECT_EQ(written({.takes = true}), "@calls[7]: 20\n");
  EXPECT_EQ(state_of(3), HotState::Used);
  EXPECT_EQ(written(), "");
  count_hot(3, 7, 6, 2);
  EXPECT_EQ(written({.takes = true}), "@calls[7]: 3\n");
  EXPECT_EQ(written({.takes = true}), "");
  EXPECT_EQ(state_of(3), HotState::Stale);
}

TEST_F(MapOutputTest, hot_keys_are_cleared_and_set_to_zero) {
  make_hot_averages();
  count_hot(3, 7, 50, 1);
  act(EventKind::ZeroMap);
  EXPECT_EQ(written(), "@calls[7]: 0\n");
  count_hot(3, 7, 4, 1);
  EXPECT_EQ(written(), "@calls[7]: 4\n");
  act(EventKind::ClearMap);
  EXPECT_EQ(written(), "");
}

}  // namespace
}  // namespace flowtap
