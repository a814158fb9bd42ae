// Creating maps. Way in: create_maps(). The kernel charges all memory of a map at once unless it
// is told not to preallocate, so a script that asks for too much fails here and not later.

#include "load/maps.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "kernel/bpf_call.h"
#include "privileges/rights.h"
#include "target/feature.h"

namespace flowtap {
namespace {

constexpr size_t kNameLength = 15;  // BPF_OBJ_NAME_LEN without the NUL

bpf_map_type kernel_type(MapType type) {
  switch (type) {
    case MapType::Hash: return BPF_MAP_TYPE_HASH;
    case MapType::LruHash: return BPF_MAP_TYPE_LRU_HASH;
    case MapType::PercpuHash: return BPF_MAP_TYPE_PERCPU_HASH;
    case MapType::PercpuLruHash: return BPF_MAP_TYPE_LRU_PERCPU_HASH;
    case MapType::Array: return BPF_MAP_TYPE_ARRAY;
    case MapType::PercpuArray: return BPF_MAP_TYPE_PERCPU_ARRAY;
    case MapType::Ringbuf: return BPF_MAP_TYPE_RINGBUF;
    case MapType::TaskStorage: return BPF_MAP_TYPE_TASK_STORAGE;
    case MapType::ArrayOfArrays: return BPF_MAP_TYPE_ARRAY_OF_MAPS;
  }
  UNREACHABLE("a map type without a number");
}

std::string hint_for(const MapDef& map, int code) {
  switch (code) {
    case EPERM: return permission_hint();
    case ENOMEM:
      return map.is_script_map
                 ? "not enough memory for it: lower max_map_keys or declare a smaller map"
                 : "not enough memory for it";
    case E2BIG:
      return fmt::format("keys of {} and values of {} are more than the kernel takes",
                         counted(map.key_size, "byte"), counted(map.value_size, "byte"));
    case EINVAL:
      return map.type == MapType::Ringbuf ? feature_row(Feature::RingBuffers).needed() : "";
    default: return {};
  }
}

Error map_error(const MapDef& map, const char* what) {
  int code = errno;
  return Error{fmt::format("cannot {} map '{}' of {} entries", what, map.name, map.max_entries),
               code, hint_for(map, code)};
}

Status write_initial(const MapDef& map, int fd) {
  std::string value = map.initial;
  value.resize(map.value_size);
  uint32_t first = 0;
  if (::bpf_map_update_elem(fd, &first, value.data(), BPF_ANY) < 0) return map_error(map, "fill");
  return Done{};
}

// Local storage must say what it holds: an int as key, and here bytes as value.
struct StorageTypes {
  Fd btf;
  uint32_t key = 0;
  uint32_t value = 0;
};

Result<StorageTypes> storage_types(const MapDef& map) {
  std::unique_ptr<::btf, decltype(&::btf__free)> types(::btf__new_empty(), &::btf__free);
  int number = ::btf__add_int(types.get(), "int", 4, BTF_INT_SIGNED);
  int byte = ::btf__add_int(types.get(), "byte", 1, 0);
  int bytes = ::btf__add_array(types.get(), number, byte, map.value_size);
  if (number < 0 || byte < 0 || bytes < 0) return errno_error("cannot describe a map");
  uint32_t size = 0;
  const void* raw = ::btf__raw_data(types.get(), &size);
  Fd fd(::bpf_btf_load(raw, size, nullptr));
  if (!fd.valid()) return map_error(map, "describe");
  return StorageTypes{std::move(fd), static_cast<uint32_t>(number), static_cast<uint32_t>(bytes)};
}

Result<Fd> create_map(const MapDef& map) {
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.map_type = kernel_type(map.type);
  attr.key_size = map.key_size;
  attr.value_size = map.value_size;
  attr.max_entries = map.max_entries;
  kernel_name(map.name).copy(attr.map_name, kNameLength);
  if (map.no_prealloc) attr.map_flags = BPF_F_NO_PREALLOC;
  if (map.is_mapped) attr.map_flags |= BPF_F_MMAPABLE;
  StorageTypes types;
  Fd example;  // of the arrays that will be put in
  if (map.type == MapType::ArrayOfArrays) {
    Result<Fd> made = create_inner_array(map);
    if (!made) return made.error();
    example = std::move(*made);
    attr.inner_map_fd = static_cast<uint32_t>(example.get());
    attr.map_flags = 0;
    attr.value_size = 4;
  }
  if (map.type == MapType::TaskStorage) {
    Result<StorageTypes> made = storage_types(map);
    if (!made) return made.error();
    types = std::move(*made);
    attr.btf_fd = static_cast<uint32_t>(types.btf.get());
    attr.btf_key_type_id = types.key;
    attr.btf_value_type_id = types.value;
  }
  Fd fd(call_bpf(BPF_MAP_CREATE, attr));
  if (!fd.valid()) return map_error(map, "create");
  if (!map.initial.empty()) {
    Status written = write_initial(map, fd.get());
    if (!written) return written.error();
  }
  return fd;
}

}  // namespace

std::string kernel_name(std::string_view name) {
  std::string out;
  for (char c : name.substr(0, kNameLength))
    out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

Result<Fd> create_inner_array(const MapDef& map) {
  LIBBPF_OPTS(bpf_map_create_opts, opts);
  if (map.is_mapped) opts.map_flags = BPF_F_MMAPABLE;
  Fd fd(::bpf_map_create(BPF_MAP_TYPE_ARRAY, kernel_name(map.name).c_str(), 4, map.value_size, 1,
                         &opts));
  if (!fd.valid()) return map_error(map, "create");
  return fd;
}

Result<std::vector<Fd>> create_maps(const Image& image) {
  std::vector<Fd> fds;
  for (const MapDef& map : image.maps) {
    bool has_size = map.type == MapType::Ringbuf || map.value_size > 0;
    if (!has_size || map.is_dumped) {
      fds.emplace_back();
      continue;
    }
    Result<Fd> fd = create_map(map);
    if (!fd) return fd.error();
    fds.push_back(std::move(*fd));
  }
  return fds;
}

}  // namespace flowtap
