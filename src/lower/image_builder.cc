// The shared part of the image; see image_builder.h.

#include "lower/image_builder.h"

#include <algorithm>

#include "base/bytes.h"
#include "lower/per_thread.h"
#include "types/unwind.h"

namespace flowtap {

ImageBuilder::ImageBuilder(const CheckedProgram& checked, const Target& target,
                           const LowerOptions& options)
    : checked_(checked), target_(target), options_(options), cpus_(target.cpus()) {
  uint64_t pages = checked.config.perf_rb_pages;
  uint64_t wanted = pages ? pages * 4096 : options.ringbuf_bytes;
  uint64_t size = 4096;
  while (size < wanted) size *= 2;
  image_.ringbuf = add_map(
      {.name = "events", .type = MapType::Ringbuf, .max_entries = static_cast<uint32_t>(size)});
  // Sized when the number of sites is known.
  image_.site_map =
      add_map({.name = "sites", .type = MapType::Array, .key_size = 4, .max_entries = 1});
  image_.tables = checked.tables;
  for (const MapInfo& map : checked.maps) add_script_map(map);
  for (size_t i = 0; i < checked.maps.size(); i++) add_local_storage(i);
}

int ImageBuilder::add_map(MapDef map) {
  image_.maps.push_back(std::move(map));
  return static_cast<int>(image_.maps.size() - 1);
}

// Histograms are large and few: their memory is taken when a key first appears.
static bool wants_no_prealloc(const MapDef& map) {
  return (map.type == MapType::Hash || map.type == MapType::PercpuHash) &&
         map.value_size + map.key_size > 256;
}

void ImageBuilder::add_script_map(const MapInfo& info) {
  MapDef map{.name = info.name, .is_script_map = true};
  bool per_cpu = is_aggregation(info.value);
  map.value = checked_.types->complete_all(info.value);
  map.value_size = static_cast<uint32_t>(std::max<uint64_t>(8, align_up(info.value->size, 8)));
  if (info.is_scalar != false) {
    map.type = per_cpu ? MapType::PercpuArray : MapType::Array;
    map.key_size = 4;
    map.max_entries = 1;
  } else {
    bool is_lru = info.decl && (info.decl->type == "lruhash" || info.decl->type == "percpulruhash");
    map.type = per_cpu ? (is_lru ? MapType::PercpuLruHash : MapType::PercpuHash)
                       : (is_lru ? MapType::LruHash : MapType::Hash);
    map.key = checked_.types->complete_all(info.key);
    map.key_size = std::max(1u, info.key->size);
    uint64_t keys = info.decl ? info.decl->entries : checked_.config.max_map_keys;
    map.max_entries = static_cast<uint32_t>(options_.max_keys ? options_.max_keys : keys);
    map.no_prealloc = wants_no_prealloc(map);
  }
  script_maps_.push_back(add_map(std::move(map)));
}

// Values move to task storage; the map itself is only filled when it has to be printed.
void ImageBuilder::add_local_storage(size_t number) {
  local_storage_.push_back(-1);
  bool fits = !options_.pid_namespace && is_per_thread(checked_, static_cast<int>(number));
  if (!fits || !target_.iterator("task").ok()) return;
  MapDef& printed = image_.maps[static_cast<size_t>(script_maps_[number])];
  constexpr uint32_t kMostThreads = 1 << 22;
  printed.max_entries = kMostThreads;
  printed.no_prealloc = true;
  uint32_t size = kPresentSize + printed.value_size;
  std::string name = "local_" + printed.name.substr(1);
  local_storage_[number] = add_map({.name = name,
                                    .type = MapType::TaskStorage,
                                    .key_size = 4,
                                    .value_size = size,
                                    .no_prealloc = true});
}

int ImageBuilder::zeros(uint32_t size) {
  if (zeros_ < 0)
    zeros_ = add_map({.name = "zeros",
                      .type = MapType::Array,
                      .key_size = 4,
                      .value_size = 8,
                      .max_entries = 1});
  MapDef& map = image_.maps[static_cast<size_t>(zeros_)];
  map.value_size = std::max(map.value_size, static_cast<uint32_t>(align_up(size, 8)));
  return zeros_;
}

int ImageBuilder::gate() {
  if (image_.gate < 0)
    image_.gate = add_map(
        {.name = "gate", .type = MapType::Array, .key_size = 4, .value_size = 8, .max_entries = 1});
  return image_.gate;
}

const UnwindMaps& ImageBuilder::unwind() {
  if (image_.unwind) return *image_.unwind;
  UnwindMaps& maps = image_.unwind.emplace();
  maps.processes = add_map({.name = "processes",
                            .type = MapType::LruHash,
                            .key_size = 4,
                            .value_size = kUnwindProcessSize,
                            .max_entries = kUnwindProcesses});
  maps.mappings = add_map({.name = "mappings",
                           .type = MapType::Array,
                           .key_size = 4,
                           .value_size = kUnwindMappings * kUnwindMappingSize,
                           .max_entries = 1,
                           .is_mapped = true});
  maps.banks = add_map({.name = "unwind_rows",
                        .type = MapType::ArrayOfArrays,
                        .key_size = 4,
                        .value_size = kUnwindBankRows * kUnwindRowSize,
                        .max_entries = kUnwindBanks,
                        .is_mapped = true});
  return maps;
}

int ImageBuilder::seen_processes() {
  constexpr uint32_t kMostProcesses = 4096;
  if (seen_processes_ < 0)
    seen_processes_ = add_map({.name = "seen",
                               .type = MapType::LruHash,
                               .key_size = 4,
                               .value_size = 8,
                               .max_entries = kMostProcesses});
  return seen_processes_;
}

int ImageBuilder::scratch(const std::string& program) {
  return add_map({.name = "scratch_" + program,
                  .type = MapType::Array,
                  .key_size = 4,
                  .value_size = 8,
                  .max_entries = 1});
}

int ImageBuilder::constant_table(const std::string& name, const std::string& bytes) {
  auto found = tables_.find(name);
  if (found != tables_.end()) return found->second;
  int map = add_map({.name = name,
                     .type = MapType::Array,
                     .key_size = 4,
                     .value_size = static_cast<uint32_t>(align_up(bytes.size(), 8)),
                     .max_entries = 1});
  image_.maps.back().initial = bytes;
  tables_[name] = map;
  return map;
}

int ImageBuilder::add_event(Event event) {
  for (Field& arg : event.args) arg.type = checked_.types->complete_all(arg.type);
  image_.events.push_back(std::move(event));
  return static_cast<int>(image_.events.size() - 1);
}

int ImageBuilder::add_site(SiteKind kind, Span span, std::string subject) {
  image_.sites.push_back({kind, span, std::move(subject)});
  image_.maps[static_cast<size_t>(image_.site_map)].value_size =
      static_cast<uint32_t>(image_.sites.size()) * kSiteSize;
  return static_cast<int>(image_.sites.size() - 1);
}

int ImageBuilder::add_string(const std::string& text) {
  auto found = std::find(image_.strings.begin(), image_.strings.end(), text);
  if (found != image_.strings.end()) return static_cast<int>(found - image_.strings.begin());
  image_.strings.push_back(text);
  return static_cast<int>(image_.strings.size() - 1);
}

}  // namespace flowtap
