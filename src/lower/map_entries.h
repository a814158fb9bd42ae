#pragma once
// Entries of maps by the address of a key: finding one, and making one.

#include "lower/code.h"
#include "lower/large_keys.h"
#include "lower/local_storage.h"
#include "lower/memory.h"

namespace flowtap {

class MapEntries : private CodeWriter {
 public:
  MapEntries(const CodeWriter& base, Memory& memory, LargeKeys& large_keys,
             LocalStorage& local_storage)
      : CodeWriter(base), memory_(memory), large_keys_(large_keys), local_storage_(local_storage) {}
  const MapDef& map_of(MapId number) const;
  Reg lookup(MapId number, Address key);
  Reg find_or_create(MapId number, const MapKey& key, int32_t present, int32_t absent);
  void create_key(MapId number, const MapKey& key, Reg answer, int32_t full);
  Lane own_lane(MapId number, Reg value, int32_t absent);
  void note_overwritten(MapId number, Address old, Address value);

 private:
  Memory& memory_;
  LargeKeys& large_keys_;
  LocalStorage& local_storage_;
};

}  // namespace flowtap
