#pragma once
// What all programs of a script share while they are lowered: the image under construction.

#include <array>
#include <map>
#include <string>

#include "bpf/image.h"
#include "lower/lower.h"

namespace flowtap {

class ImageBuilder {
 public:
  ImageBuilder(const CheckedProgram& checked, const Target& target, const LowerOptions& options);

  const CheckedProgram& checked() const { return checked_; }
  const Target& target() const { return target_; }
  // One of our own: it is not switched off, and the kernel has what it is made of.
  bool uses(Feature feature) const {
    std::optional<Feature> need = need_of(feature);
    return options_.uses(feature) && (!need || target_.has(*need));
  }
  const ScriptTypes& types() const { return *checked_.types; }
  const LowerOptions& options() const { return options_; }
  Image& image() { return image_; }
  uint32_t cpus() const { return cpus_; }

  // Of a map with two sides that which was chosen.
  int script_map(MapId number) const { return script_maps_[side_][number]; }
  void choose_side(size_t side) { side_ = side; }
  bool has_sides(MapId number) const { return script_maps_[0][number] != script_maps_[1][number]; }
  // The task storage behind a map whose only key is ever `tid`; -1 for all other maps.
  int local_storage(MapId number) const { return local_storage_[number]; }
  // The map that keeps the whole keys of one that is keyed by their hash (large_keys.cc), or -1.
  int whole_keys(MapId number) const;
  // A map of our own, made when first asked for.
  int zeros(uint32_t size);  // array of zero bytes, at least `size` of them
  int scratch(const std::string& program);
  int seen_processes();        // processes that user space was told to look at
  int gate();                  // one word, a Gate
  int exit_cell();             // what the first exit() sets
  int turn();                  // one word, the side of maps that programs use
  const UnwindMaps& unwind();  // what dw_ustack searches
  int constant_table(const std::string& name, const std::string& bytes);

  EventId add_event(Event event);
  // A record of that size; rare ones come from timers, begin and end, and not from loops.
  void will_send(uint32_t size, bool is_rare);
  void fit_ring_buffer();  // when all programs are lowered
  int add_site(SiteKind kind, Span span, std::string subject);
  int add_string(const std::string& text);

 private:
  void add_script_map(const MapInfo& map);
  int make_script_map(const MapInfo& map);
  void add_local_storage(MapId number);
  void add_whole_keys(MapDef& map);
  void choose_lanes(MapDef& map);
  static void add_written_mark(MapDef& map);
  uint64_t most_keys(const MapInfo& info, const MapDef& map) const;
  void add_hot_keys(MapDef& map, MapUse use);
  int add_map(MapDef map);

  const CheckedProgram& checked_;
  const Target& target_;
  const LowerOptions& options_;
  Image image_;
  uint32_t cpus_;
  std::array<IdVector<MapId, int>, 2> script_maps_;  // by side
  size_t side_ = 0;
  IdVector<MapId, int> local_storage_;
  uint64_t rare_bytes_ = 0;  // of all records that programs send in one run
  bool sends_often_ = false;
  int zeros_ = -1;
  int seen_processes_ = -1;
  std::map<std::string, int> tables_;
};

}  // namespace flowtap
