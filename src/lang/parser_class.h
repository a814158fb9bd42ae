#pragma once
// The parser's inside, shared by the parse_*.cc files and by nobody else.
//
// Recursive descent: one function per grammar rule, named after it. A mistake puts the parser in
// the failed state, in which at() and accept() match nothing, so that all open functions run out;
// the statement or top-level loop then calls one of the recover functions and goes on. Functions
// never return a null expression: after a mistake they return a placeholder.

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/ast.h"
#include "lang/lexer.h"
#include "lang/parser.h"
#include "source/diagnostics.h"

namespace flowtap {

class Parser {
 public:
  Parser(std::string_view text, Span origin, Diagnostics& diagnostics, const ParseOptions& options);

  Ast program();
  ExprPtr whole_expression();
  uint32_t next_id() const { return ast_.next_id; }

 private:
  // Does the last expression of a block without ';' give the block's value?
  enum class BlockKind { Statements, Value };

  // One level of nesting, for as long as it lives.
  class Depth;

  // parser.cc: tokens and mistakes
  const Token& token() { return peek(0); }
  const Token& peek(size_t n);
  void advance();
  Token take();
  bool at(std::string_view text);
  bool at(TokenKind kind);
  bool at_word();
  bool accept(std::string_view text);
  bool expect(std::string_view text, std::string_view where);
  void seek(uint32_t offset);
  std::string found();
  void fail(Span span, std::string message, std::string hint = {});
  void fail_expected(std::string_view what, std::string hint = {});
  void recover_in_block();
  void recover_at_top();
  void skip_braces();
  Span here();
  Span since(uint32_t begin) const;
  template <typename Node>
  ExprPtr make(Span span, Node node) {  // every node type
    return ExprPtr(new Expr{ast_.next_id++, span, std::move(node)});
  }
  ExprPtr placeholder();

  // parse_program.cc
  void top_level_item();
  void c_line();
  void c_definition();
  void type_definition();
  void config();
  void config_entry();
  void import();
  void map_declaration();
  void key_and_value_types(MapDecl& decl);
  TypeSpec declared_type();
  bool map_type(MapDecl& decl);
  void macro();
  std::vector<MacroParam> macro_params();
  bool at_plan();
  void plan();
  void plan_item();
  void function();
  std::vector<Function::Param> function_params();
  bool at_table();
  void check_order(Span span, std::string_view what);

  // parse_table.cc
  void table();
  void sorted_by(TableDecl& table);
  void column(TableDecl& table);
  bool at_plot();
  void plot();
  PlotDecl::Name plotted_name(std::string_view what);
  std::vector<PlotDecl::Name> plotted_names(std::string_view what);
  Stmt emit();

  // parse_probe.cc
  void probe();
  void attach_points(Probe& probe);
  void attach_point(Probe& probe);
  ExprPtr predicate();

  // parse_stmt.cc
  Block block(BlockKind kind);
  void statement(Block& block, BlockKind kind);
  bool control_statement(Block& block, BlockKind kind);
  void simple_statement(Block& block, BlockKind kind);
  void end_statement(Block& block, Stmt stmt);
  void if_statement(Block& block, BlockKind kind);
  void inner_block(Block& block, BlockKind kind);
  Stmt while_loop();
  Stmt for_loop();
  Stmt unroll();
  Stmt let();
  Stmt return_statement();
  Stmt assignment(ExprPtr target);
  void check_target(const Expr& target);
  ExprPtr if_expression();

  // parse_expr.cc
  ExprPtr expression();
  ExprPtr conditional();
  ExprPtr binary(int lowest);
  ExprPtr unary();
  ExprPtr increment(ExprPtr target, const Token& op, bool is_prefix, uint32_t begin);
  ExprPtr postfix();
  ExprPtr member(ExprPtr base, uint32_t begin);
  ExprPtr primary();
  ExprPtr word();
  ExprPtr map();
  ExprPtr parenthesised();
  ExprPtr record(uint32_t begin);
  ExprPtr call();
  ExprPtr argument();
  std::vector<ExprPtr> expressions(std::string_view closing);

  // parse_type.cc
  bool at_type(size_t ahead = 0);
  bool at_cast();
  size_t skip_type(size_t ahead);
  bool begins_operand(const Token& token) const;
  bool is_value_name(std::string_view name) const;
  TypeSpec type();
  void type_name(TypeSpec& spec);
  void type_suffixes(TypeSpec& spec);
  ExprPtr cast();
  ExprPtr size_of();
  ExprPtr offset_of();
  ExprPtr type_of();
  ExprPtr type_info();

  std::string_view text_;
  Span origin_;
  Lexer lexer_;
  Diagnostics& diagnostics_;
  const ParseOptions& options_;
  size_t messages_before_;   // how many there were when parsing began
  std::deque<Token> ahead_;  // the current token and those already looked at
  uint32_t previous_end_;    // of the last token taken
  bool failed_ = false;
  bool in_predicate_ = false;
  int depth_ = 0;
  int plan_ = -1;  // the plan that is open
  bool seen_config_ = false;
  bool seen_code_ = false;           // a probe, macro or declaration was seen
  std::set<std::string> constants_;  // names of #defines, and of the parameters of this macro
  Ast ast_;
};

// Nesting is limited so that no later stage, all of which recurse, runs out of stack. A chain
// like a+b+c deepens the tree too, but costs less of the allowance.
class Parser::Depth {
 public:
  static constexpr int kLimit = 1200, kNesting = 6, kChain = 1;

  explicit Depth(Parser& parser, int amount = kNesting) : parser_(parser) { add(amount); }
  ~Depth() { parser_.depth_ -= added_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

  void add(int amount);

 private:
  Parser& parser_;
  int added_ = 0;
};

}  // namespace flowtap
