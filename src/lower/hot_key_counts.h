#pragma once
// Counting hot keys in a table of this CPU's; types/hot_keys.h draws it.

#include "lower/aggregations.h"
#include "lower/code.h"
#include "lower/large_keys.h"
#include "lower/map_entries.h"
#include "lower/memory.h"

namespace flowtap {

class HotKeyCounts : private CodeWriter {
 public:
  struct Uses {
    Memory& memory;
    LargeKeys& large_keys;
    MapEntries& entries;
    Aggregations& aggregations;
  };
  HotKeyCounts(const CodeWriter& base, const Uses& uses) : CodeWriter(base), uses_(uses) {}
  void change_hot(MapId number, const MapKey& key, const std::function<void(const Lane&)>& change);
  void take_hot_keys(MapId number);

 private:
  void take_slot(MapId number, const MapDef& map, uint32_t slots);
  void in_pieces(Address key, const Type& type,
                 const std::function<void(uint32_t, uint32_t)>& visit);
  void in_pieces_of_id(const MapDef& map, Address id,
                       const std::function<void(uint32_t, uint32_t)>& visit);
  Reg hot_slot(MapId number, const MapKey& key, int32_t nowhere);
  void claim_slot(MapId number, Reg slot, const MapKey& key, int32_t claimed, int32_t refused);
  void make_sure_of_key(MapId number, const MapKey& key, int32_t full);
  Reg new_in_slot(Reg slot, uint32_t word);
  Reg new_events(const MapDef& map, Reg slot);

  Uses uses_;
};

}  // namespace flowtap
