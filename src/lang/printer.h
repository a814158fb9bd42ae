#pragma once
// The syntax tree as indented text, for `--dump=ast` and for tests.

#include <string>

#include "lang/ast.h"

namespace flowtap {

std::string print_ast(const Ast& ast);
std::string print_ast(const Ast& ast, int plan);  // without probes of other plans

// One expression, its first line not indented.
std::string print_expr(const Expr& expr);

// A type as it is written: "struct sock *", "int8[4]", "typeof($x)" as "typeof(...)".
std::string print_type(const TypeSpec& type);

const char* to_text(UnaryOp op);
const char* to_text(BinaryOp op);

}  // namespace flowtap
