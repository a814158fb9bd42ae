#pragma once
// Type inference over a whole program, private to sema. The walk is repeated until no variable
// or map changes its type; only the last walk reports mistakes, so that each is reported once
// and with final types.

#include <string>

#include "sema/checked.h"
#include "sema/script_types.h"
#include "sema/unify.h"

namespace flowtap {

class Inferrer {
 public:
  Inferrer(CheckedProgram& program, const Ast& ast, const Target& target,
           const CheckOptions& options, Diagnostics& diagnostics)
      : program_(program),
        ast_(ast),
        target_(target),
        types_(*program.types),
        options_(options),
        diagnostics_(diagnostics) {}

  void run();

 private:
  // --- walking (infer.cc) ---
  bool walk_everything();
  void infer_instance(Instance& instance);
  bool is_exit(const Stmt& stmt);
  void infer_block(const Block& block);
  void infer_stmt(const Stmt& stmt);
  void infer_assign(const Stmt& stmt, const Assign& assign);
  bool makes_signed(const Assign& assign);
  bool check_compound(const Stmt& stmt, const Assign& assign, const Type& have);
  void infer_let(const Stmt& stmt, const Let& let);
  void infer_return(const Stmt& stmt, const Return& node);
  void infer_for_range(const Stmt& stmt, const ForRange& loop);
  void infer_for_map(const Stmt& stmt, const ForMap& loop);
  void need_loop(const Stmt& stmt, const char* word);
  void enter_loop(Span span);
  void infer_unroll(const Stmt& stmt, const Unroll& unroll);
  void infer_rounds(const Stmt& stmt, const Block& body, uint64_t rounds);
  void infer_emit(const Stmt& stmt, const Emit& emit);
  const TableDecl* find_table(std::string_view name) const;  // null when there is none
  void check_print_table(const Expr& expr, const TableDecl& table,
                         const std::vector<ExprPtr>& args);
  void check_cell(const TableDecl& table, size_t number, const Expr& value);
  void infer_condition(const Expr& condition);
  void check_condition(const Expr& condition);
  void infer_branches(const Expr& condition, const Block& then, const Block& otherwise,
                      bool is_comptime);
  void finish_maps();
  void check_declaration(const MapInfo& map);
  bool can_hold(const Type& declared, const Expr& value);
  void finish_variables();

  // --- what assignments do to variables and maps (infer.cc) ---
  void assign_variable(int variable, const Expr& value, Span span);
  bool follows_address(VariableInfo& pointer, const Expr& value);
  Type settled(const Type& type);
  void assign_variable_type(int variable, const Meeting& value, Span span);
  void assign_map_type(MapInfo& map, const Meeting& value, Span span);
  MapInfo& reach_map(const Expr& access);
  MapInfo& use_map(const Expr& access, bool has_key);
  void use_key(MapInfo& map, const Expr& key);

  // --- expressions (infer_expr.cc, infer_field.cc) ---
  const Type& infer(const Expr& expr);
  Type infer_value(const Expr& expr);  // aggregations read as integers
  void infer_node(const Expr& expr, ExprInfo& info);
  Type infer_element(const Expr& element);
  bool are_elements(const Expr& expr, const std::vector<Type>& types);
  void check_text_length(const Expr& expr, const std::string& text);
  void infer_identifier(const Expr& expr, const Identifier& node, ExprInfo& info);
  Type assumed_number(const Binary& node, const Type& left, const Type& right);
  void infer_unary(const Expr& expr, const Unary& node, ExprInfo& info);
  void infer_binary(const Expr& expr, const Binary& node, ExprInfo& info);
  void infer_pointer_arithmetic(const Expr& expr, const Binary& node, const Type& left,
                                const Type& right, ExprInfo& info);
  void infer_comparison(const Expr& expr, const Binary& node, const Type& left, const Type& right,
                        ExprInfo& info);
  bool is_decided(const Binary& node, ExprInfo& info);
  void fold_binary(const Expr& expr, const Binary& node, ExprInfo& info);
  bool is_never_negative(const Expr& expr);
  void warn_about_sign(const Expr& expr, const Binary& node);
  Type arithmetic_type(const Expr& expr, const Binary& node);
  void infer_ternary(const Expr& expr, const Ternary& node, ExprInfo& info);
  void infer_increment(const Expr& expr, const Increment& node, ExprInfo& info);
  void infer_cast(const Expr& expr, const Cast& node, ExprInfo& info);
  void infer_member(const Expr& expr, const Member& node, ExprInfo& info);
  bool infer_setting(const Expr& expr, const Member& node, ExprInfo& info);
  void check_enum_cast(const Expr& expr, const Type& to, const ExprInfo& operand);
  void infer_index(const Expr& expr, const Index& node, ExprInfo& info);
  void infer_sizeof(const Expr& expr, const Sizeof& node, ExprInfo& info);
  void infer_offsetof(const Expr& expr, const Offsetof& node, ExprInfo& info);
  void infer_has_field(const Offsetof& node, ExprInfo& info);
  void infer_if_expr(const Expr& expr, const IfExpr& node, ExprInfo& info);
  void infer_fn_call(const Expr& expr, const FnCall& node);
  void infer_parameter(const FnCall& node, const Stmt& stmt);
  void pass(const FnCall& node, int variable, const Expr& value, const std::string& to);
  bool can_pass(const Type& declared, const Expr& value);
  bool always_leaves(const Block& block);
  Type field_type(const Field& field, AddressSpace space);
  Type resolve_type(const TypeSpec& spec);
  void report_unknown_type(const TypeSpec& spec);
  std::string traced_program() const;  // empty where none is
  AddressSpace default_space() const;
  void set_constant(ExprInfo& info, int64_t value, bool is_unsigned);

  // --- builtins (infer_call.cc, infer_action.cc) ---
  void infer_type_info(const Expr& expr, const Call& node, ExprInfo& info);
  bool infer_type_field(const Member& node, ExprInfo& info);
  void infer_call(const Expr& expr, const Call& node, ExprInfo& info);
  void infer_builtin(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                     std::string_view name, ExprInfo& info);
  Type builtin_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                    std::string_view name);
  bool infer_folded_call(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                         ExprInfo& info);
  Type memory_function_type(const Expr& expr, const Builtin& builtin,
                            const std::vector<ExprPtr>& args);
  Type context_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                    std::string_view name);
  Type config_type();
  Type task_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  void check_unwinding(const Expr& expr);
  Type stack_call_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  Type string_call_type(const Expr& expr, const std::vector<ExprPtr>& args);
  Type buffer_call_type(const Expr& expr, const std::vector<ExprPtr>& args);
  Type aggregation_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  Type action_type(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  Type map_function_type(const Expr& expr, const Builtin& builtin,
                         const std::vector<ExprPtr>& args);
  Type getopt_type(const Expr& expr, const std::vector<ExprPtr>& args, ExprInfo& info);
  void check_format(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  void check_print(const Expr& expr, const std::vector<ExprPtr>& args);
  std::string fail_message(const std::vector<ExprPtr>& args);
  bool expect_integer(const Expr& arg, std::string_view function);
  bool expect_address(const Expr& arg, std::string_view function);
  bool expect_string(const Expr& arg, std::string_view function);
  bool expect_within(const Expr& arg, const std::string& what, int64_t low, int64_t high);
  void check_family(const Expr& family, uint32_t bytes);
  std::optional<uint64_t> expect_length(const Expr& arg, std::string_view function, uint64_t most);
  std::optional<std::string> expect_literal_text(const Expr& arg, std::string_view function);
  std::optional<int64_t> expect_literal_number(const Expr& arg, std::string_view function);
  const Expr* expect_map(const Expr& arg, std::string_view function);

  // --- builtins that need more of the machine (infer_kernel.cc) ---
  bool points_to(const Type& type, std::string_view name) const;
  bool expect_bytes(const Expr& arg, std::string_view function);
  Type comm_of_pid_type(const Expr& arg);
  Type container_type(const std::vector<ExprPtr>& args);
  Type type_argument(const Expr& arg);
  std::optional<uint32_t> member_offset(Type type, const std::vector<std::string>& path);
  Type path_type(const Expr& expr, const std::vector<ExprPtr>& args);
  Type percpu_type(const std::vector<ExprPtr>& args);
  Type uaddr_type(const Expr& expr, const std::vector<ExprPtr>& args);
  Type skboutput_type(const std::vector<ExprPtr>& args);
  void check_override(const Expr& expr, const std::vector<ExprPtr>& args);
  void check_write_user(const Expr& expr, const std::vector<ExprPtr>& args);

  // --- reporting ---
  Diagnostic& report(Diagnostic& diagnostic);
  Diagnostic& error(Span span, std::string message);
  Diagnostic& warning(Span span, std::string message);
  ExprInfo& info(const Expr& expr) { return program_.info[expr.id]; }
  Meeting meeting(const Expr& expr) { return {readable(info(expr).type), info(expr).is_literal}; }

  CheckedProgram& program_;
  const Ast& ast_;
  const Target& target_;
  const ScriptTypes& types_;
  const CheckOptions& options_;
  Diagnostics& diagnostics_;  // the caller's
  Diagnostics silent_;        // where the walks before the last one report to
  bool is_last_walk_ = false;
  bool changed_ = false;
  bool has_more_to_say_ = false;  // the last walk would report what the one before it could not
  int walks_ = 0;
  bool assumes_numbers_ = false;  // where nothing tells the type of an operand
  Instance* instance_ = nullptr;
  uint32_t current_ = 0;  // the expression being looked at, for messages
  int loop_depth_ = 0;
  uint64_t expressions_ = 0;          // looked at, as often as 'unroll' repeats them
  uint64_t rounds_ = 1;               // of all 'unroll' around
  const FnCall* function_ = nullptr;  // the one whose body is being looked at
  int loops_around_ = 0;              // the call of that function
  const Expr* aggregate_ = nullptr;   // the one place where count() and so on may stand now
  bool is_for_compiler_ = false;      // the argument being looked at does not exist at run time
};

}  // namespace flowtap
