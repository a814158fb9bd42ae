#pragma once
// Type inference over a whole program, private to sema. The walk is repeated until no variable
// or map changes its type; only the last walk reports mistakes, so that each is reported once
// and with final types. Each subject is a class of its own; infer.h makes them.

#include <string>

#include "sema/checked.h"
#include "sema/script_types.h"
#include "sema/unify.h"

namespace flowtap {

struct InferenceInput {
  CheckedProgram& program;  // its types are what is found out
  const Ast& ast;
  const Target& target;
  const CheckOptions& options;
  Diagnostics& diagnostics;
};

// What one walk over the program finds.
struct InferenceWalk {
  int number = 0;
  bool is_last = false;
  bool changed = false;
  bool has_more_to_say = false;  // the last walk would report what the one before it could not
  bool assumes_numbers = false;  // where nothing tells the type of an operand
  uint64_t expressions = 0;      // looked at, as often as 'unroll' repeats them
  uint64_t rounds = 1;           // of all 'unroll' around
  uint32_t current = 0;          // the expression being looked at, for messages
  Diagnostics silent;            // where the walks before the last one report to
};

// What is around the expression that is being looked at.
struct InferencePlace {
  const Instance* instance = nullptr;
  const FnCall* function = nullptr;  // the call whose body is being looked at
  int loop_depth = 0;
  int loops_around = 0;             // the call of that function
  const Expr* aggregate = nullptr;  // the one place where count() and so on may stand now
  bool is_unevaluated = false;      // what is being looked at is asked for its type only
  bool is_for_compiler = false;     // the argument being looked at does not exist at run time
};

// What all classes of the inference have.
class Inference {
 public:
  Inference(const InferenceInput& input, InferenceWalk& walk, InferencePlace& place)
      : input_(input), program_(input.program), walk_(walk), place_(place) {}

 protected:
  Diagnostic& error(Span span, std::string message);
  Diagnostic& warning(Span span, std::string message);
  ExprInfo& info(const Expr& expr) { return program_.info[expr.id]; }
  Meeting meeting(const Expr& expr) { return {readable(info(expr).type), info(expr).is_literal}; }
  const ScriptTypes& types() const { return *program_.types; }
  // In the narrowest type that holds it.
  static void set_constant(ExprInfo& info, int64_t value, bool is_unsigned);
  // In the integer type that casts have asked for, cut to its width.
  static void set_typed_constant(ExprInfo& info, int64_t value, const Type& type);

  const InferenceInput& input_;
  CheckedProgram& program_;
  InferenceWalk& walk_;
  InferencePlace& place_;

 private:
  Diagnostic& report(Diagnostic& diagnostic);
};

// How they reach the whole language: an argument may be any expression, and the body of a loop any
// block.
class ExpressionInference {
 public:
  virtual ~ExpressionInference() = default;
  virtual const Type& infer(const Expr& expr) = 0;
  virtual Type infer_value(const Expr& expr) = 0;  // aggregations read as integers
  virtual void infer_condition(const Expr& condition) = 0;
};

class BlockInference {
 public:
  virtual ~BlockInference() = default;
  virtual void infer_block(const Block& block) = 0;
  virtual void infer_let(const Stmt& stmt, const Let& let) = 0;
  virtual void infer_branches(const Expr& condition, const Block& then, const Block& otherwise,
                              bool is_comptime) = 0;
};

}  // namespace flowtap
