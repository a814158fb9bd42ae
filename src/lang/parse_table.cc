// Declarations of tables, and the statement that emits a row.

#include <fmt/format.h>

#include "lang/parser_class.h"

namespace flowtap {

//   table = "table" name [ "sorted" "by" name ] "{" { column } "}"
void Parser::table() {
  uint32_t begin = here().begin;
  advance();
  seen_code_ = true;
  TableDecl table;
  table.name = take().text;
  table.span = since(begin);
  for (const TableDecl& other : ast_.tables)
    if (other.name == table.name)
      diagnostics_.error(table.span, fmt::format("there are two tables '{}'", table.name))
          .with_note(other.span, "the first one");
  if (at("sorted")) sorted_by(table);
  expect("{", "after the name of the table");
  size_t before = diagnostics_.all().size();
  while (!at("}") && token().kind != TokenKind::End) {
    column(table);
    if (failed_) recover_in_block();
  }
  expect("}", "to close the table");
  if (!failed_ && table.columns.empty() && diagnostics_.all().size() == before)
    diagnostics_.error(table.span, "this table has no column")
        .with_hint("write one for each value, e.g. pid PID \"the process\";");
  ast_.tables.push_back(std::move(table));
}

void Parser::sorted_by(TableDecl& table) {
  advance();
  if (!expect("by", "after 'sorted'")) return;
  table.sorted_span = here();
  if (!at_word()) return fail_expected("the column to sort by");
  table.sorted_by = take().text;
}

//   column = ( kind | "enum" [name] ) name string ";"
void Parser::column(TableDecl& table) {
  ColumnDecl column;
  column.span = column.kind_span = here();
  if (!at_word()) return fail_expected("a column: its kind, its name and what it means");
  column.kind = take().text;
  bool names_type = column.kind == "enum" && peek(1).kind == TokenKind::Name;
  if (names_type) column.enum_name = take().text;
  if (!at_word())
    return fail_expected(fmt::format("the column's name after its kind '{}'", column.kind));
  column.name = take().text;
  column.span = since(column.kind_span.begin);
  if (!at(TokenKind::String))
    return fail_expected("what the column means, in quotes, after its name");
  column.doc = take().value;
  table.columns.push_back(std::move(column));
  expect(";", "after this column");
}

//   emit = "emit" name "(" [ expression { "," expression } ] ")"
Stmt Parser::emit() {
  uint32_t begin = here().begin;
  advance();
  Emit emit;
  emit.table_span = here();
  emit.table = take().text;
  if (expect("(", "after the name of the table")) {
    if (!at(")")) emit.values = expressions(")");
    expect(")", "after the values of the row");
  }
  return Stmt{since(begin), std::move(emit)};
}

}  // namespace flowtap
