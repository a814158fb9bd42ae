#pragma once
// Maps as the script uses them: @x[k], assignments, delete(), has_key(), find() and len().

#include "lower/aggregations.h"
#include "lower/code.h"
#include "lower/frame.h"
#include "lower/hot_key_counts.h"
#include "lower/large_keys.h"
#include "lower/local_storage.h"
#include "lower/lowering.h"
#include "lower/map_entries.h"
#include "lower/memory.h"
#include "lower/variables.h"

namespace flowtap {

class MapValues : private CodeWriter {
 public:
  struct Uses {
    ProgramFrame& frame;
    Memory& memory;
    LargeKeys& large_keys;
    LocalStorage& local_storage;
    MapEntries& entries;
    Aggregations& aggregations;
    HotKeyCounts& hot_keys;
    Variables& variables;
    ExpressionLowering& expressions;
  };
  MapValues(const CodeWriter& base, const Uses& uses) : CodeWriter(base), uses_(uses) {}
  MapKey lower_key(MapId number, const Expr& key);
  Value load_map(const Expr& expr, const MapAccess& node);
  void store_map(const Expr& target, const Expr& value);
  void change_map(const Expr& target, const std::function<void(const Lane&)>& change);
  void update_aggregation(const Expr& target, const Expr& call);
  Value lower_delete(const std::vector<ExprPtr>& args);
  Value lower_has_key(const std::vector<ExprPtr>& args);
  Value lower_find(const std::vector<ExprPtr>& args);
  Value lower_len(const Expr& arg);

 private:
  void mark_written(MapId number, Address value);
  Value load_map_value(const MapInfo& map, MapId number, std::optional<Address> key);

  Uses uses_;
};

}  // namespace flowtap
