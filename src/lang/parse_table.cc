// Declarations of tables and of the plot, and the statement that emits a row.

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

// The word alone may be the name of a probe.
bool Parser::at_plot() {
  return at("plot") && peek(1).kind == TokenKind::Name &&
         (peek(2).kind == TokenKind::Name || peek(2).kind == TokenKind::Map);
}

//   plot = "plot" name ( map [ "in" name ] | names ) [ "by" names ] [ "mark" name string ] ";"
void Parser::plot() {
  uint32_t begin = here().begin;
  advance();
  seen_code_ = true;
  PlotDecl plot;
  plot.kind = plotted_name("the kind of the plot");
  if (at(TokenKind::Map)) {
    Span span = here();
    plot.values.push_back({span, std::string(take().text)});
    if (accept("in")) plot.unit = plotted_name("the unit of the values").text;
  } else {
    plot.values = plotted_names("the column to draw");
  }
  if (accept("by")) plot.by = plotted_names("a column after 'by'");
  if (accept("mark")) {
    plot.mark = plotted_name("a column after 'mark'");
    if (!at(TokenKind::String)) return fail_expected("the marked value of that column, in quotes");
    plot.marked = take().value;
  }
  plot.span = since(begin);
  expect(";", "after this plot");
  if (!ast_.plots.empty())
    diagnostics_.error(plot.span, "a script has one plot")
        .with_note(ast_.plots[0].span, "the first one");
  ast_.plots.push_back(std::move(plot));
}

PlotDecl::Name Parser::plotted_name(std::string_view what) {
  Span span = here();
  if (!at_word()) {
    fail_expected(what);
    return {span, ""};
  }
  return {span, std::string(take().text)};
}

//   names = name { "," name }
std::vector<PlotDecl::Name> Parser::plotted_names(std::string_view what) {
  std::vector<PlotDecl::Name> names;
  do names.push_back(plotted_name(what));
  while (!failed_ && accept(","));
  return names;
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
