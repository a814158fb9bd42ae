// Printing maps. Way in: write_map(). A map without keys is an array of one element in the
// kernel, whose index is no key that the script knows of.

#include "runtime/map_output.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "output/merge.h"
#include "output/same_names.h"
#include "runtime/hot_key_reader.h"

namespace flowtap {

// One copy of each value, in the layout of its type.
static std::vector<std::byte> merged_values(const MapDef& map, const MapData& data) {
  size_t size = map.value->size;
  std::vector<std::byte> merged(data.count * size), copies;
  for (size_t i = 0; i < data.count; i++) {
    std::span<std::byte> to = std::span(merged).subspan(i * size, size);
    if (!map.lane) {
      merge_cpus(map.value, data.value(i), to);
      continue;
    }
    copies.clear();
    for (uint32_t n = 0; n < count_lanes(map); n++) {
      Bytes copy = data.value(i).subspan(lane_offset(map, n), cpu_stride(map.value));
      copies.insert(copies.end(), copy.begin(), copy.end());
    }
    merge_cpus(map.value, copies, to);
  }
  return merged;
}

// The end shows no map that has nothing. Who asks for one gets zeros, but no picture of nothing.
static bool is_shown(const MapDef& map, Bytes value, const MapView& view) {
  bool is_picture =
      is(map.value, Kind::Hist) || is(map.value, Kind::Lhist) || is(map.value, Kind::Tseries);
  return is_written(map, value) || !(view.is_end || is_picture);
}

static std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

namespace {

// The keys of a map that has only numbers of them; see lower/large_keys.cc.
class WholeKeys {
 public:
  void add(MapData data) {
    const MapData& kept = data_.emplace_back(std::move(data));
    for (size_t i = 0; i < kept.count; i++) places_.emplace(text_of(kept.key(i)), kept.value(i));
  }
  // Nothing for one that is just being removed.
  std::optional<Bytes> find(Bytes number) const {
    auto found = places_.find(text_of(number));
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }
  bool has_all_of(const MapData& numbers) const {
    for (size_t i = 0; i < numbers.count; i++)
      if (!find(numbers.key(i))) return false;
    return true;
  }

 private:
  std::deque<MapData> data_;
  std::unordered_map<std::string_view, Bytes> places_;
};

Result<HotKeys> open_hot_keys(const KernelMaps& maps, const MapDef& map) {
  size_t number = static_cast<size_t>(map.hot_keys);
  return HotKeys::open(maps.fds[number].get(), map, maps.image.maps.at(number));
}

Status drop_counts(const KernelMaps& maps, const MapDef& map) {
  if (map.hot_keys < 0) return Done{};
  Result<HotKeys> hot = open_hot_keys(maps, map);
  if (!hot) return hot.error();
  hot->make_stale(HotKeys::Which::All);
  hot->take_all();
  return Done{};
}

// Adds what was counted in front of a map to the part of the first CPU.
void add_counts(const MapDef& map, const std::vector<HotKey>& counted, MapData& data) {
  std::unordered_map<std::string_view, std::array<uint64_t, 2>> totals;
  for (const HotKey& hot : counted)
    for (size_t word = 0; word < hot.grown.size(); word++)
      totals[text_of(hot.key)][word] += hot.grown[word];
  auto add = [&](size_t entry, const std::array<uint64_t, 2>& total) {
    size_t start = entry * data.value_size + (map.lane ? lane_offset(map, 0) : 0);
    for (size_t at = 0; at < map.value->size; at += 8)
      store(std::span(data.values), start + at,
            load<uint64_t>(data.values, start + at) + total[at / 8]);
  };
  for (size_t i = 0; i < data.count && !totals.empty(); i++) {
    auto found = totals.find(text_of(data.key(i)));
    if (found == totals.end()) continue;
    add(i, found->second);
    totals.erase(found);
  }
  for (const auto& [key, total] : totals) {
    Bytes bytes = std::as_bytes(std::span(key));
    data.keys.insert(data.keys.end(), bytes.begin(), bytes.end());
    data.values.resize(data.values.size() + data.value_size);
    add(data.count++, total);
  }
}

// What a map holds, with its whole keys when it has only numbers of them. A key is kept before its
// number can be seen, so those are read after the numbers. Taken they are before them: a number
// that comes meanwhile is kept once more.
Result<MapData> get_map(const KernelMaps& maps, size_t number, bool takes, WholeKeys& whole) {
  const MapDef& map = maps.image.maps.at(number);
  bool has_numbers = map.whole_keys >= 0;
  size_t keys = has_numbers ? static_cast<size_t>(map.whole_keys) : 0;
  if (takes && has_numbers) {
    Result<MapData> taken = take_map(maps.fds[keys].get(), maps.image.maps.at(keys));
    if (!taken) return taken;
    whole.add(std::move(*taken));
  }
  int fd = maps.fds[number].get();
  Result<MapData> data = takes ? take_map(fd, map) : read_map(fd, map);
  if (!data) return data;
  std::optional<HotKeys> hot;
  std::vector<HotKey> counted;
  if (map.hot_keys >= 0) {
    Result<HotKeys> opened = open_hot_keys(maps, map);
    if (!opened) return opened.error();
    hot.emplace(std::move(*opened));
    // A whole key has to be kept once more; see claim_slot().
    if (takes) hot->make_stale(has_numbers ? HotKeys::Which::All : HotKeys::Which::Idle);
    counted = hot->read();
    add_counts(map, counted, *data);
  }
  if (has_numbers && !whole.has_all_of(*data)) {
    Result<MapData> kept = read_map(maps.fds[keys].get(), maps.image.maps.at(keys));
    if (!kept) return kept;
    whole.add(std::move(*kept));
  }
  // What has no whole key at this moment is written when it has one again.
  for (const HotKey& key : counted)
    if (takes && (!has_numbers || whole.find(key.key))) hot->take(key);
  return data;
}

}  // namespace

MapData split_entries(const MapDef& map, Bytes entries) {
  MapData data{.key_size = map.key_size, .value_size = map.value_size};
  size_t size = data.key_size + data.value_size;
  for (; entries.size() >= size; entries = entries.subspan(size), data.count++) {
    Bytes key = entries.first(data.key_size),
          value = entries.subspan(data.key_size, data.value_size);
    data.keys.insert(data.keys.end(), key.begin(), key.end());
    data.values.insert(data.values.end(), value.begin(), value.end());
  }
  return data;
}

Status write_map(const KernelMaps& maps, size_t number, MapView view, const MapOutput& to) {
  const MapDef& map = maps.image.maps.at(number);
  bool is_dumped = maps.dumped && maps.dumped->contains(number);
  if (!maps.fds[number].valid() && !is_dumped) return Done{};  // nothing was ever stored
  WholeKeys whole;
  Result<MapData> data = is_dumped ? Result<MapData>(maps.dumped->at(number))
                                   : get_map(maps, number, view.takes, whole);
  if (!data) return data.error();
  bool has_numbers = map.whole_keys >= 0;
  bool is_merged = is_per_cpu(map.type) || map.lane;
  size_t size = map.value->size;
  std::vector<std::byte> merged;
  if (is_merged) merged = merged_values(map, *data);
  std::vector<MapEntry> entries;
  entries.reserve(data->count);
  for (size_t i = 0; i < data->count; i++) {
    std::optional<Bytes> key = has_numbers ? whole.find(data->key(i)) : data->key(i);
    if (!key) continue;
    entries.push_back(
        {.key = map.key ? *key : Bytes{},
         .value = is_merged ? Bytes(merged).subspan(i * size, size) : data->value(i)});
  }
  if (!map.key && data->count == 1 && !is_shown(map, data->value(0), view)) return Done{};
  MapContent content{.name = map.name,
                     .key = map.key,
                     .value = map.value,
                     .entries = entries,
                     .top = view.top,
                     .div = view.div};
  SameNames joined(content, to.values);
  content.entries = joined.entries();
  to.writer.map(content);
  return Done{};
}

// The order is that of lower/large_keys.cc: whole keys first.
Status empty_map(const KernelMaps& maps, size_t number) {
  const MapDef& map = maps.image.maps.at(number);
  if (map.whole_keys >= 0) {
    size_t keys = static_cast<size_t>(map.whole_keys);
    Status cleared = clear_map(maps.fds[keys].get(), maps.image.maps.at(keys));
    if (!cleared) return cleared.error();
  }
  Status cleared = clear_map(maps.fds[number].get(), map);
  return cleared ? drop_counts(maps, map) : cleared;
}

Status zero_values(const KernelMaps& maps, size_t number) {
  const MapDef& map = maps.image.maps.at(number);
  Status zeroed = zero_map(maps.fds[number].get(), map);
  return zeroed ? drop_counts(maps, map) : zeroed;
}

}  // namespace flowtap
