// Reading maps. Way in: read_map(). Hash maps are read in batches, a system call for thousands of
// entries; where the kernel has no batches for a map (before 5.6, and arrays per CPU before 5.13),
// key by key.

#include "read/map_reader.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernel/machine.h"

namespace flowtap {
namespace {

size_t value_bytes(const MapDef& map) {
  if (!is_per_cpu(map.type)) return map.value_size;
  return align_up(map.value_size, 8) * count_possible_cpus();
}

Error map_error(const char* what, const MapDef& map, int code) {
  return Error{fmt::format("cannot {} map '{}'", what, map.name), code};
}

bool is_array(MapType type) { return type == MapType::Array || type == MapType::PercpuArray; }

// Goes through a map in pieces. A piece must hold at least one whole bucket of the hash table,
// so it grows when the kernel says that it is too small.
class BatchReader {
 public:
  BatchReader(int fd, const MapDef& map, MapData& data, bool takes)
      : fd_(fd), map_(map), data_(data), takes_(takes) {}

  // 0, or the errno of what failed.
  int read() {
    uint32_t room = std::min<uint32_t>(std::max<uint32_t>(map_.max_entries, 1), 4096);
    while (true) {
      int code = read_piece(room);
      if (code == ENOENT) return 0;
      if (code == ENOSPC && room < (1u << 24)) {
        room *= 2;
        continue;
      }
      if (code != 0) return code;
    }
  }

 private:
  int read_piece(uint32_t room) {
    data_.keys.resize((data_.count + room) * data_.key_size);
    data_.values.resize((data_.count + room) * data_.value_size);
    uint32_t count = room;
    LIBBPF_OPTS(bpf_map_batch_opts, opts);
    std::vector<std::byte> next(std::max<size_t>(data_.key_size, 8));
    auto* look = takes_ ? ::bpf_map_lookup_and_delete_batch : ::bpf_map_lookup_batch;
    int result = look(fd_, has_token_ ? token_.data() : nullptr, next.data(),
                      data_.keys.data() + data_.count * data_.key_size,
                      data_.values.data() + data_.count * data_.value_size, &count, &opts);
    int code = result < 0 ? errno : 0;
    bool has_data = code == 0 || code == ENOENT;
    if (has_data) data_.count += count;
    data_.keys.resize(data_.count * data_.key_size);
    data_.values.resize(data_.count * data_.value_size);
    if (code == 0) {
      token_ = std::move(next);
      has_token_ = true;
    }
    return code;
  }

  int fd_;
  const MapDef& map_;
  MapData& data_;
  bool takes_;
  std::vector<std::byte> token_;  // where the next piece begins
  bool has_token_ = false;
};

// A key that is deleted under our feet makes the kernel start again, so the walk is bounded.
int read_key_by_key(int fd, const MapDef& map, MapData& data) {
  std::vector<std::byte> key(data.key_size), next(data.key_size), value(data.value_size);
  void* from = nullptr;
  for (uint32_t i = 0; i < map.max_entries; i++) {
    if (::bpf_map_get_next_key(fd, from, next.data()) < 0) return errno == ENOENT ? 0 : errno;
    key = next;
    from = key.data();
    if (::bpf_map_lookup_elem(fd, key.data(), value.data()) < 0) continue;
    data.keys.insert(data.keys.end(), key.begin(), key.end());
    data.values.insert(data.values.end(), value.begin(), value.end());
    data.count++;
  }
  return 0;
}

Status zero_entries(int fd, const MapDef& map, const MapData& data) {
  std::vector<std::byte> zeros(data.value_size);
  for (size_t i = 0; i < data.count; i++)
    if (::bpf_map_update_elem(fd, data.key(i).data(), zeros.data(), BPF_EXIST) < 0 &&
        errno != ENOENT)
      return map_error("zero", map, errno);
  return Done{};
}

Status delete_entries(int fd, const MapDef& map, const MapData& data) {
  for (size_t i = 0; i < data.count; i++)
    if (::bpf_map_delete_elem(fd, data.key(i).data()) < 0 && errno != ENOENT)
      return map_error("clear", map, errno);
  return Done{};
}

MapData no_data(const MapDef& map) {
  return {.key_size = map.key_size, .value_size = value_bytes(map)};
}

}  // namespace

Result<MapData> read_map(int fd, const MapDef& map) {
  MapData data = no_data(map);
  int code = is_array(map.type) ? EINVAL : BatchReader(fd, map, data, false).read();
  if (code != 0) {
    data = no_data(map);
    code = read_key_by_key(fd, map, data);
  }
  if (code != 0) return map_error("read", map, code);
  return data;
}

// The kernel reads and removes a bucket of a hash table under one lock. Where it cannot do that,
// the two steps follow each other as fast as possible.
Result<MapData> take_map(int fd, const MapDef& map) {
  MapData taken = no_data(map);
  int code = is_array(map.type) ? EINVAL : BatchReader(fd, map, taken, true).read();
  if (code == 0) return taken;
  if (taken.count > 0) return map_error("take all of", map, code);
  Result<MapData> data = read_map(fd, map);
  if (!data) return data;
  Status removed =
      is_array(map.type) ? zero_entries(fd, map, *data) : delete_entries(fd, map, *data);
  if (!removed) return removed.error();
  return data;
}

Status clear_map(int fd, const MapDef& map) {
  Result<MapData> taken = take_map(fd, map);
  if (!taken) return taken.error();
  return Done{};
}

Status zero_map(int fd, const MapDef& map) {
  Result<MapData> data = read_map(fd, map);
  if (!data) return data.error();
  Status done = zero_entries(fd, map, *data);
  if (!done || !map.written_at || !is_written(map, data->value(0))) return done;
  // It still has its key, so to say.
  std::vector<std::byte> zeros(data->value_size);
  zeros[*map.written_at] = std::byte{1};
  if (::bpf_map_update_elem(fd, data->key(0).data(), zeros.data(), BPF_EXIST) < 0)
    return map_error("zero", map, errno);
  return Done{};
}

bool is_written(const MapDef& map, Bytes value) {
  return map.key ||
         std::any_of(value.begin(), value.end(), [](std::byte b) { return b != std::byte{0}; });
}

}  // namespace flowtap
