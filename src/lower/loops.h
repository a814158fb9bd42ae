#pragma once
// Loops: each body is a function that the kernel calls back.

#include "lower/aggregations.h"
#include "lower/code.h"
#include "lower/frame.h"
#include "lower/functions.h"
#include "lower/hot_key_counts.h"
#include "lower/large_keys.h"
#include "lower/lowering.h"
#include "lower/memory.h"
#include "lower/variables.h"

namespace flowtap {

class Loops : private CodeWriter {
 public:
  struct Uses {
    ProgramFrame& frame;
    Memory& memory;
    LargeKeys& large_keys;
    Aggregations& aggregations;
    HotKeyCounts& hot_keys;
    Variables& variables;
    ExpressionLowering& expressions;
    ScriptFunctions& functions;
    BlockLowering& blocks;
  };
  Loops(const CodeWriter& base, const Instance& instance, const Uses& uses)
      : CodeWriter(base), instance_(instance), uses_(uses) {}
  void lower_while(const Stmt& stmt, const While& loop);
  void lower_for_range(const Stmt& stmt, const ForRange& loop);
  void lower_for_map(const Stmt& stmt, const ForMap& loop);

 private:
  // Runs `body` in a new function called back by the kernel; answers its number.
  int32_t lower_callback(const Stmt& stmt, uint32_t params, uint32_t context_param,
                         const std::function<void(const std::vector<Reg>&)>& body);

  const Instance& instance_;
  Uses uses_;
};

}  // namespace flowtap
