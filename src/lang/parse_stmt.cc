// Blocks and statements.
//
// An `if` or a block may stand as a statement or give a value, and which it is shows only at the
// end: `{ if (c) { 1 } else { 2 } }` has a value, with a statement behind the `if` it has none.
// So both are parsed as expressions, and turned into statements when their value goes unused.

#include <fmt/format.h>

#include <array>
#include <optional>

#include "lang/parser_class.h"

namespace flowtap {

namespace {

struct CompoundOp {
  std::string_view text;
  BinaryOp op;
};

constexpr std::array<CompoundOp, 10> kCompoundOps = {{
    {"+=", BinaryOp::Add},
    {"-=", BinaryOp::Subtract},
    {"*=", BinaryOp::Multiply},
    {"/=", BinaryOp::Divide},
    {"%=", BinaryOp::Modulo},
    {"&=", BinaryOp::BitAnd},
    {"|=", BinaryOp::BitOr},
    {"^=", BinaryOp::BitXor},
    {"<<=", BinaryOp::ShiftLeft},
    {">>=", BinaryOp::ShiftRight},
}};

const CompoundOp* find_compound(std::string_view text) {
  for (const CompoundOp& op : kCompoundOps)
    if (op.text == text) return &op;
  return nullptr;
}

void append(Block& block, Stmt stmt) {
  block.stmts.push_back(std::make_unique<Stmt>(std::move(stmt)));
}

// The statement that does what the expression does and drops its value.
Stmt to_statement(ExprPtr expr);

void drop_value(Block& block) {
  if (block.result) append(block, to_statement(std::move(block.result)));
}

Stmt to_statement(ExprPtr expr) {
  Span span = expr->span;
  if (IfExpr* branch = std::get_if<IfExpr>(&expr->node)) {
    drop_value(branch->then);
    drop_value(branch->otherwise);
    return Stmt{span, If{std::move(branch->condition), std::move(branch->then),
                         std::move(branch->otherwise), branch->is_comptime}};
  }
  if (BlockExpr* inner = std::get_if<BlockExpr>(&expr->node)) {
    drop_value(inner->block);
    return Stmt{span, std::move(inner->block)};
  }
  return Stmt{span, ExprStmt{std::move(expr)}};
}

}  // namespace

//   block = "{" { statement } [expression] "}"
Block Parser::block(BlockKind kind) {
  Depth depth(*this);
  Block block;
  uint32_t begin = here().begin;
  if (!expect("{", "to begin a block")) return block;
  while (!at("}") && token().kind != TokenKind::End) {
    if (accept(";")) continue;
    statement(block, kind);
    if (failed_) recover_in_block();
  }
  expect("}", "to close the block");
  block.span = since(begin);
  return block;
}

//   statement = control_statement | simple_statement
void Parser::statement(Block& block, BlockKind kind) {
  if (!control_statement(block, kind)) simple_statement(block, kind);
}

// Those that end without ';'.
bool Parser::control_statement(Block& block, BlockKind kind) {
  if (at("if")) return if_statement(block, kind), true;
  if (at("{")) return inner_block(block, kind), true;
  if (at("while")) return append(block, while_loop()), true;
  if (at("for")) return append(block, for_loop()), true;
  if (at("unroll")) return append(block, unroll()), true;
  return false;
}

//   simple_statement = ( let | return | emit | "break" | "continue" | assignment | expression ) ";"
//   The ';' may be left out before '}'.
void Parser::simple_statement(Block& block, BlockKind kind) {
  uint32_t begin = here().begin;
  if (at("let")) return end_statement(block, let());
  if (at("return")) return end_statement(block, return_statement());
  if (at("emit") && peek(1).kind == TokenKind::Name) return end_statement(block, emit());
  if (accept("break")) return end_statement(block, {since(begin), Break{}});
  if (accept("continue")) return end_statement(block, {since(begin), Continue{}});
  if (at("_") && peek(1).text == "=") {
    advance();
    return end_statement(block, assignment(nullptr));
  }
  ExprPtr expr = expression();
  if (at("=") || (at(TokenKind::Symbol) && find_compound(token().text)))
    return end_statement(block, assignment(std::move(expr)));
  if (at("}") && kind == BlockKind::Value) {
    block.result = std::move(expr);
    return;
  }
  end_statement(block, to_statement(std::move(expr)));
}

void Parser::end_statement(Block& block, Stmt stmt) {
  if (!failed_ && !at("}")) expect(";", "after this statement");
  append(block, std::move(stmt));
}

void Parser::if_statement(Block& block, BlockKind kind) {
  ExprPtr branch = if_expression();
  IfExpr& parts = std::get<IfExpr>(branch->node);
  bool has_value = parts.then.result && parts.otherwise.result;
  if (kind == BlockKind::Value && at("}") && has_value) {
    block.result = std::move(branch);
  } else {
    append(block, to_statement(std::move(branch)));
  }
}

void Parser::inner_block(Block& block, BlockKind kind) {
  Block inner = this->block(BlockKind::Value);
  Span span = inner.span;
  bool has_value = inner.result != nullptr;
  ExprPtr expr = make(span, BlockExpr{std::move(inner)});
  if (kind == BlockKind::Value && at("}") && has_value) {
    block.result = std::move(expr);
  } else {
    append(block, to_statement(std::move(expr)));
  }
}

//   if_expression = "if" ["comptime"] expression block [ "else" ( if_expression | block ) ]
ExprPtr Parser::if_expression() {
  Depth depth(*this);
  uint32_t begin = here().begin;
  advance();
  IfExpr branch;
  branch.is_comptime = accept("comptime");
  branch.condition = expression();
  branch.then = block(BlockKind::Value);
  if (accept("else")) {
    if (at("if")) {
      branch.otherwise.result = if_expression();
      branch.otherwise.span = branch.otherwise.result->span;
      IfExpr& inner = std::get<IfExpr>(branch.otherwise.result->node);
      if (!inner.then.result || !inner.otherwise.result) drop_value(branch.otherwise);
    } else if (at("{")) {
      branch.otherwise = block(BlockKind::Value);
    } else {
      fail_expected("'{' or 'if' after 'else'");
    }
  }
  Span span = since(begin);
  return make(span, std::move(branch));
}

//   while = "while" expression block
Stmt Parser::while_loop() {
  uint32_t begin = here().begin;
  advance();
  While loop;
  loop.condition = expression();
  loop.body = block(BlockKind::Statements);
  return Stmt{since(begin), std::move(loop)};
}

//   for = "for" ["("] variable ":" ( expression ".." expression | map ) [")"] block
Stmt Parser::for_loop() {
  uint32_t begin = here().begin;
  advance();
  bool has_parenthesis = accept("(");
  Token name = token();
  if (at(TokenKind::Variable)) {
    advance();
  } else {
    fail_expected("a variable after 'for'");
  }
  expect(":", "after the variable of the loop");
  ExprPtr over = expression();
  ExprPtr end = accept("..") ? expression() : nullptr;
  if (has_parenthesis) expect(")", "after the head of the loop");
  const MapAccess* map = std::get_if<MapAccess>(&over->node);
  if (!end && (!map || map->key))
    fail(over->span, "a 'for' loop goes over a map or a range",
         "write 'for ($i : 0..10)' or 'for ($entry : @map)'");
  Block body = block(BlockKind::Statements);
  if (end)
    return Stmt{since(begin),
                ForRange{name.value, std::move(over), std::move(end), std::move(body), name.span}};
  return Stmt{since(begin), ForMap{name.value, std::move(over), std::move(body), name.span}};
}

//   unroll = "unroll" expression block
Stmt Parser::unroll() {
  uint32_t begin = here().begin;
  advance();
  Unroll loop;
  loop.count = expression();
  loop.body = block(BlockKind::Statements);
  return Stmt{since(begin), std::move(loop)};
}

//   let = "let" variable [":" type] ["=" expression]
Stmt Parser::let() {
  uint32_t begin = here().begin;
  advance();
  Let let;
  if (at(TokenKind::Map)) {
    fail(here(), "maps are declared outside of probes",
         fmt::format("assign to '{}' without 'let'", token().text));
  } else if (!at(TokenKind::Variable)) {
    fail_expected("a variable after 'let'",
                  at(TokenKind::Name) ? fmt::format("did you mean '${}'?", token().text) : "");
  } else {
    let.name_span = here();
    let.name = take().value;
  }
  let.has_type = accept(":");
  if (let.has_type) let.type = type();
  if (accept("=")) let.value = expression();
  return Stmt{since(begin), std::move(let)};
}

//   return = "return" [expression]
Stmt Parser::return_statement() {
  uint32_t begin = here().begin;
  advance();
  Return statement;
  if (!at(";") && !at("}")) statement.value = expression();
  return Stmt{since(begin), std::move(statement)};
}

//   assignment = ( variable | map | "_" ) ( "=" | "+=" | "-=" | ... ) expression
//   `_ = e` drops the value without a warning; its target is null.
Stmt Parser::assignment(ExprPtr target) {
  uint32_t begin = target ? target->span.begin : previous_end_ - 1;
  if (target) check_target(*target);
  Assign assign;
  if (const CompoundOp* compound = find_compound(token().text)) {
    assign.is_compound = true;
    assign.op = compound->op;
  }
  if (!failed_) advance();
  assign.target = std::move(target);
  assign.value = expression();
  return Stmt{since(begin), std::move(assign)};
}

void Parser::check_target(const Expr& target) {
  if (std::holds_alternative<Variable>(target.node)) return;
  if (std::holds_alternative<MapAccess>(target.node)) return;
  if (const Identifier* name = std::get_if<Identifier>(&target.node))
    return fail(target.span, fmt::format("cannot assign to '{}'", name->name),
                fmt::format("did you mean '${0}' or '@{0}'?", name->name));
  if (std::holds_alternative<Member>(target.node))
    return fail(target.span, "cannot assign to a field: values never change once they are made",
                "make a new value and assign it");
  fail(target.span, "can only assign to a variable or a map");
}

}  // namespace flowtap
