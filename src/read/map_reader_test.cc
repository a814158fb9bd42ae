// Maps of the running kernel, filled here and read back.

#include "read/map_reader.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include <map>

#include "kernel/bpf_for_test.h"
#include "kernel/machine.h"
#include "load/maps.h"

namespace flowtap {
namespace {

// A map with the values 1000 + key for the keys 0...
struct FilledMap {
  FilledMap(MapType type, uint32_t entries, uint32_t room) {
    image.maps = {
        {.name = "@x", .type = type, .key_size = 4, .value_size = 8, .max_entries = room}};
    Result<std::vector<Fd>> made = create_maps(image);
    if (!made) return;
    fd = std::move(made->front());
    std::vector<uint64_t> value(is_per_cpu(type) ? count_possible_cpus() : 1);
    for (uint32_t key = 0; key < entries; key++) {
      for (uint64_t& one : value) one = 1000 + key;
      EXPECT_EQ(::bpf_map_update_elem(fd.get(), &key, value.data(), BPF_ANY), 0);
    }
  }
  const MapDef& def() const { return image.maps[0]; }

  Image image;
  Fd fd;
};

std::map<uint32_t, uint64_t> content(const MapData& data) {
  std::map<uint32_t, uint64_t> all;
  for (size_t i = 0; i < data.count; i++)
    all[load<uint32_t>(data.key(i))] = load<uint64_t>(data.value(i));
  return all;
}

class MapReader : public testing::TestWithParam<MapType> {
 protected:
  void SetUp() override { SKIP_WITHOUT_BPF(); }
  bool is_array() const {
    return GetParam() == MapType::Array || GetParam() == MapType::PercpuArray;
  }
};

TEST_P(MapReader, all_entries_are_read_once) {
  FilledMap map(GetParam(), 100, is_array() ? 100 : 10000);
  Result<MapData> data = read_map(map.fd.get(), map.def());
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_EQ(data->count, 100u);
  std::map<uint32_t, uint64_t> all = content(*data);
  ASSERT_EQ(all.size(), 100u);
  for (auto [key, value] : all) EXPECT_EQ(value, 1000u + key);
  EXPECT_EQ(data->value(0).size(), 8 * (is_per_cpu(GetParam()) ? count_possible_cpus() : 1));
}

TEST_P(MapReader, zero_keeps_the_keys) {
  FilledMap map(GetParam(), 5, is_array() ? 5 : 1000);
  ASSERT_TRUE(zero_map(map.fd.get(), map.def()));
  Result<MapData> data = read_map(map.fd.get(), map.def());
  ASSERT_TRUE(data);
  EXPECT_EQ(data->count, 5u);
  for (std::byte b : data->values) EXPECT_EQ(b, std::byte{0});
}

TEST_P(MapReader, clear_empties_hashes_and_zeroes_arrays) {
  FilledMap map(GetParam(), 5, 5);
  ASSERT_TRUE(clear_map(map.fd.get(), map.def()));
  Result<MapData> data = read_map(map.fd.get(), map.def());
  ASSERT_TRUE(data);
  EXPECT_EQ(data->count, is_array() ? 5u : 0u);
  for (std::byte b : data->values) EXPECT_EQ(b, std::byte{0});
}

INSTANTIATE_TEST_SUITE_P(Types, MapReader,
                         testing::Values(MapType::Hash, MapType::LruHash, MapType::PercpuHash,
                                         MapType::PercpuLruHash, MapType::Array,
                                         MapType::PercpuArray));

TEST(MapReaderTest, many_entries_come_in_several_pieces) {
  SKIP_WITHOUT_BPF();
  FilledMap map(MapType::Hash, 20000, 20000);
  Result<MapData> data = read_map(map.fd.get(), map.def());
  ASSERT_TRUE(data);
  EXPECT_EQ(content(*data).size(), 20000u);
}

TEST(MapReaderTest, a_full_tiny_map_is_read) {
  SKIP_WITHOUT_BPF();
  FilledMap map(MapType::Hash, 1, 1);
  EXPECT_EQ(read_map(map.fd.get(), map.def())->count, 1u);
  FilledMap empty(MapType::Hash, 0, 3);
  EXPECT_EQ(read_map(empty.fd.get(), empty.def())->count, 0u);
}

}  // namespace
}  // namespace flowtap
