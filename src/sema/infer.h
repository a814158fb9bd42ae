#pragma once
// Finds the types of everything in a program; private to sema. Holds the classes that do it, each
// of which uses those above it; only expressions and blocks, which hold each other, are reached
// from all.

#include "sema/infer_expr.h"
#include "sema/infer_loops.h"
#include "sema/infer_statements.h"

namespace flowtap {

class Inferrer {
 public:
  explicit Inferrer(const InferenceInput& input) : input_(input) {}
  void run();

 private:
  bool walk_everything();
  void declare_types(MapInfo& map);
  Type declared_type(const TypeSpec& spec);
  void infer_instance(const Instance& instance);

  const InferenceInput input_;
  InferenceWalk walk_;
  InferencePlace place_;
  const Inference base_{input_, walk_, place_};
  // First, since those below take them for what they implement.
  ExpressionTypes expressions_{
      base_, {arguments_, types_, stores_, calls_, operators_, fields_, functions_, blocks_}};
  StatementTypes blocks_{base_,
                         {types_, stores_, rows_, operators_, functions_, expressions_, loops_}};
  Arguments arguments_{base_};
  WrittenTypes types_{base_, expressions_};
  StoredTypes stores_{base_, expressions_};
  RowTypes rows_{base_, arguments_, expressions_};
  FoldedCalls folded_{base_, arguments_};
  ContextTypes context_{base_, arguments_};
  KernelFunctions kernel_functions_{base_, arguments_, types_};
  MemoryFunctions memory_functions_{base_, arguments_, kernel_functions_};
  MapFunctions map_functions_{base_, arguments_, stores_};
  ActionTypes actions_{base_, {arguments_, stores_, rows_, kernel_functions_}};
  CallTypes calls_{base_,
                   {arguments_, types_, rows_, folded_, context_, memory_functions_, map_functions_,
                    actions_, expressions_}};
  OperatorTypes operators_{base_, arguments_, types_, expressions_};
  FieldTypes fields_{base_, types_, expressions_};
  FunctionTypes functions_{base_, {types_, stores_, expressions_, blocks_}};
  LoopTypes loops_{base_, stores_, expressions_, blocks_};
};

}  // namespace flowtap
