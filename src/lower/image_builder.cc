// The shared part of the image; see image_builder.h.

#include "lower/image_builder.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "lower/local_storage.h"
#include "types/hot_keys.h"
#include "types/unwind.h"

namespace flowtap {

// From here on it is cheaper to make a number of a key than to let the kernel hash it whole. Code
// grows with the key, which ends what is worth it.
static constexpr uint32_t kSmallestLargeKey = 48, kLargestLargeKey = 4096;

static uint32_t ring_size(uint64_t wanted, uint64_t page_size) {
  uint64_t size = page_size;
  while (size < wanted) size *= 2;
  return static_cast<uint32_t>(size);
}

ImageBuilder::ImageBuilder(const CheckedProgram& checked, const Target& target,
                           const LowerOptions& options)
    : checked_(checked), target_(target), options_(options), cpus_(target.cpus()) {
  uint64_t pages = checked.config.perf_rb_pages;
  uint32_t size =
      ring_size(pages ? pages * target.page_size() : options.ringbuf_bytes, target.page_size());
  image_.ringbuf = add_map({.name = "events", .type = MapType::Ringbuf, .max_entries = size});
  // Sized when the number of sites is known.
  image_.site_map =
      add_map({.name = "sites", .type = MapType::Array, .key_size = 4, .max_entries = 1});
  image_.tables = checked.tables;
  image_.plot = checked.plot;
  for (const MapInfo& map : checked.maps) add_script_map(map);
  for (size_t i = 0; i < checked.maps.size(); i++) add_local_storage(MapId(i));
}

int ImageBuilder::add_map(MapDef map) {
  image_.maps.push_back(std::move(map));
  return static_cast<int>(image_.maps.size() - 1);
}

// Memory of a key is taken when the key appears, so that a map costs what is in it and not what
// could be.
static bool wants_no_prealloc(const MapDef& map) {
  return map.type == MapType::Hash || map.type == MapType::PercpuHash;
}

void ImageBuilder::add_script_map(const MapInfo& info) {
  int first = make_script_map(info), second = first;
  if (info.is_reached && info.is_per_report()) {
    second = make_script_map(info);
    image_.maps[static_cast<size_t>(second)].is_script_map = false;  // it is the same to the user
    image_.sides.push_back({static_cast<size_t>(first), static_cast<size_t>(second)});
  }
  script_maps_[0].push_back(first);
  script_maps_[1].push_back(second);
}

// An empty map takes 16 bytes for each key it may have.
uint64_t ImageBuilder::most_keys(const MapInfo& info, const MapDef& map) const {
  constexpr uint64_t kSmall = 256, kManyKeys = 131072, kFewerKeys = 32768;
  if (options_.max_keys) return options_.max_keys;
  if (info.decl && !info.decl->type.empty()) return info.decl->entries;
  if (checked_.config.max_map_keys) return checked_.config.max_map_keys;
  return map.key_size + map.value_size <= kSmall ? kManyKeys : kFewerKeys;
}

int ImageBuilder::make_script_map(const MapInfo& info) {
  if (!info.is_reached) return add_map({.name = info.name});  // a map of no size is not made
  MapDef map{.name = info.name, .is_script_map = true};
  bool per_cpu = is_aggregation(info.value);
  map.value = checked_.types->complete_all(info.value);
  map.value_size = static_cast<uint32_t>(std::max<uint64_t>(8, align_up(info.value->size, 8)));
  if (info.is_scalar != false) {
    map.type = per_cpu ? MapType::PercpuArray : MapType::Array;
    map.key_size = 4;
    map.max_entries = 1;
    choose_lanes(map);
    add_written_mark(map);
  } else {
    bool is_lru = info.decl && (info.decl->type == "lruhash" || info.decl->type == "percpulruhash");
    map.type = per_cpu ? (is_lru ? MapType::PercpuLruHash : MapType::PercpuHash)
                       : (is_lru ? MapType::LruHash : MapType::Hash);
    map.key = checked_.types->complete_all(info.key);
    map.key_size = std::max(1u, info.key->size);
    choose_lanes(map);
    map.max_entries = static_cast<uint32_t>(most_keys(info, map));
    if (!is_lru) add_whole_keys(map);
    map.no_prealloc = wants_no_prealloc(map);
    if (!is_lru) add_hot_keys(map, info.use);
  }
  return add_map(std::move(map));
}

// Behind the value, or in the part that lanes leave free.
void ImageBuilder::add_written_mark(MapDef& map) {
  if (is_per_cpu(map.type)) return;  // what --no-feature cpu_lanes leaves
  map.written_at = map.lane ? 0 : map.value_size;
  if (!map.lane) map.value_size += 8;
}

// Adding to them takes one step, so CPUs can share one.
static bool adds_up(const Type& type) {
  switch (type->kind) {
    case Kind::Count:
    case Kind::Sum:
    case Kind::Avg:
    case Kind::Stats:
    case Kind::Hist:
    case Kind::Lhist: return true;
    default: return false;
  }
}

// The kernel has little per-CPU memory ready and finds more slowly, and reaches a value there by
// one step more. So values are plain ones with a lane for every CPU. The lanes of a key that adds
// up take kMostForKey bytes at most: where CPUs are many, they share lanes and add atomically.
void ImageBuilder::choose_lanes(MapDef& map) {
  constexpr uint64_t kMostForKey = 8192, kMostForOthers = 64 << 10, kMostForOne = 8 << 20;
  bool is_array = map.type == MapType::PercpuArray;
  if (!options_.uses(Feature::CpuLanes) || !(is_array || map.type == MapType::PercpuHash)) return;
  uint64_t lane = align_up(map.value_size, kCacheLine), lanes = cpus_;
  if (!is_array && adds_up(map.value))
    lanes = std::max<uint64_t>(1, (kMostForKey - kCacheLine) / lane);
  lanes = lanes < cpus_ ? std::bit_floor(lanes) : cpus_;
  uint64_t size = kCacheLine + lane * lanes;
  if (!adds_up(map.value) && size > (is_array ? kMostForOne : kMostForOthers)) return;
  map.type = is_array ? MapType::Array : MapType::Hash;
  map.lane = static_cast<uint32_t>(lane);
  map.value_size = static_cast<uint32_t>(size);
}

// An evicted key could not take its whole one with it, so LRU maps keep their keys.
void ImageBuilder::add_whole_keys(MapDef& map) {
  if (!uses(Feature::HashedKeys) || map.key_size < kSmallestLargeKey ||
      map.key_size > kLargestLargeKey)
    return;
  MapDef keys{.name = "keys_" + map.name.substr(1),
              .type = MapType::Hash,
              .key_size = kKeyDigestSize,
              .value_size = static_cast<uint32_t>(align_up(map.key_size, 8)),
              .max_entries = map.max_entries};
  keys.no_prealloc = wants_no_prealloc(keys);
  map.key_size = kKeyDigestSize;
  map.whole_keys = add_map(std::move(keys));
}

// A loop that deletes a large key takes away what its number stands for, and a slot would still
// have the number.
void ImageBuilder::add_hot_keys(MapDef& map, MapUse use) {
  if (!uses(Feature::HotKeys) || map.key_size > kMostHotKey) return;
  bool loses_keys = use == MapUse::Visited && map.whole_keys >= 0;
  if (use == MapUse::Other || loses_keys) return;
  uint64_t size = uint64_t{cpus_} * kHotSlots * hot_slot_size(map.key_size);
  constexpr uint64_t kMostForHotKeys = 4 << 20;  // bytes
  if (size > kMostForHotKeys) return;
  map.hot_keys = add_map({.name = "hot_" + map.name.substr(1),
                          .type = MapType::Array,
                          .key_size = 4,
                          .value_size = static_cast<uint32_t>(size),
                          .max_entries = 1,
                          .is_mapped = true});
}

int ImageBuilder::whole_keys(MapId number) const {
  return image_.maps[static_cast<size_t>(script_map(number))].whole_keys;
}

// Values are in task storage, from where they are printed.
void ImageBuilder::add_local_storage(MapId number) {
  local_storage_.push_back(-1);
  bool fits =
      uses(Feature::TaskStorage) && !options_.pid_namespace && checked_.maps[number].is_per_thread;
  if (!fits || !target_.iterator("task")) return;
  MapDef& printed = image_.maps[static_cast<size_t>(script_maps_[0][number])];
  printed.is_dumped = true;
  printed.max_entries = 0;
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

int ImageBuilder::exit_cell() {
  if (image_.exit_cell < 0)
    image_.exit_cell = add_map({.name = "exit",
                                .type = MapType::Array,
                                .key_size = 4,
                                .value_size = kExitCellSize,
                                .max_entries = 1,
                                .is_mapped = true});
  return image_.exit_cell;
}

int ImageBuilder::turn() {
  if (image_.turn < 0)
    image_.turn = add_map(
        {.name = "turn", .type = MapType::Array, .key_size = 4, .value_size = 8, .max_entries = 1});
  return image_.turn;
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

EventId ImageBuilder::add_event(Event event) {
  for (Field& arg : event.args) arg.type = checked_.types->complete_all(arg.type);
  return image_.events.add(std::move(event));
}

void ImageBuilder::will_send(uint32_t size, bool is_rare) {
  sends_often_ |= !is_rare;
  rare_bytes_ += size + kRecordHeader;
}

// A script that only counts sends a few records per second at most. Finding 4 MB for them takes the
// kernel longer than all else that it does to start one.
void ImageBuilder::fit_ring_buffer() {
  constexpr uint64_t kRuns = 64, kSmallest = 128 << 10;
  if (!options_.uses(Feature::SmallRing) || sends_often_ || checked_.config.perf_rb_pages) return;
  uint32_t& size = image_.maps[static_cast<size_t>(image_.ringbuf)].max_entries;
  size = std::min(size, ring_size(std::max(kSmallest, kRuns * rare_bytes_), target_.page_size()));
}

// Code that was lowered for the first side has the places of the second.
int ImageBuilder::add_site(SiteKind kind, Span span, std::string subject) {
  auto is_same = [&](const Site& site) {
    return site.kind == kind && site.span == span && site.subject == subject;
  };
  auto known = std::find_if(image_.sites.begin(), image_.sites.end(), is_same);
  if (side_ == 1 && known != image_.sites.end())
    return static_cast<int>(known - image_.sites.begin());
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
