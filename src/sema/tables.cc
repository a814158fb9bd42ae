// Tables and the rows that are emitted to them. Ways in: check_tables() for the declarations,
// Inferrer::infer_emit() for each row.

#include "sema/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sema/infer.h"

namespace flowtap {

static void report_kind(const ColumnDecl& column, Diagnostics& diagnostics) {
  std::vector<std::string> words;
  for (const ColumnKindRow& row : all_column_kinds()) words.emplace_back(row.word);
  std::optional<std::string> near = nearest(column.kind, words);
  diagnostics.error(column.kind_span, fmt::format("'{}' is not a kind of column", column.kind))
      .with_hint(near ? fmt::format("did you mean '{}'?", *near)
                      : fmt::format("the kinds are {}", join(words, ", ")));
}

// Null when nothing was named; an error is reported for what is no enum.
static Type enum_of(const ColumnDecl& column, const ScriptTypes& types, Diagnostics& diagnostics) {
  if (column.enum_name.empty()) return nullptr;
  Type type = types.find_type("enum " + column.enum_name);
  if (type && is(type, Kind::Enum)) return type;
  diagnostics.error(column.span, fmt::format("there is no 'enum {}'", column.enum_name));
  return nullptr;
}

static void find_sorted_column(const TableDecl& decl, Table& table, Diagnostics& diagnostics) {
  if (decl.sorted_by.empty()) return;
  std::vector<std::string> names;
  for (size_t i = 0; i < table.columns.size(); i++) {
    names.push_back(table.columns[i].name);
    if (table.columns[i].name == decl.sorted_by) table.sorted_by = static_cast<int>(i);
  }
  if (table.sorted_by < 0) {
    std::optional<std::string> near = nearest(decl.sorted_by, names);
    diagnostics
        .error(decl.sorted_span,
               fmt::format("table '{}' has no column '{}'", decl.name, decl.sorted_by))
        .with_hint(near ? fmt::format("did you mean '{}'?", *near)
                        : fmt::format("its columns are {}", join(names, ", ")));
    return;
  }
  const ColumnKindRow& kind = column_kind(table.columns[static_cast<size_t>(table.sorted_by)].kind);
  if (kind.value != ColumnValue::Integer)
    diagnostics.error(decl.sorted_span,
                      fmt::format("a table is sorted by a number, '{}' is of kind '{}'",
                                  decl.sorted_by, kind.word));
}

std::vector<Table> check_tables(const Ast& ast, const ScriptTypes& types,
                                Diagnostics& diagnostics) {
  std::vector<Table> tables;
  for (const TableDecl& decl : ast.tables) {
    Table table{.name = decl.name};
    for (const ColumnDecl& from : decl.columns) {
      const ColumnKindRow* row = find_column_kind(from.kind);
      if (!row) {
        report_kind(from, diagnostics);
        continue;
      }
      Column column =
          make_column(from.name, row->kind, from.doc, enum_of(from, types, diagnostics));
      if (column.key == "type")
        diagnostics.error(from.span, "a column cannot be called 'TYPE'")
            .with_hint("in JSON that key is what tells other records from rows; KIND is free");
      for (const Column& other : table.columns)
        if (other.key == column.key)
          diagnostics.error(from.span, fmt::format("two columns of table '{}' are called '{}' "
                                                   "in JSON and CSV",
                                                   decl.name, column.key));
      table.columns.push_back(std::move(column));
    }
    find_sorted_column(decl, table, diagnostics);
    tables.push_back(std::move(table));
  }
  return tables;
}

static std::string hint_for(ColumnValue value, const Type& found) {
  if (value == ColumnValue::Address)
    return is(found, Kind::String) ? "" : "ntop() makes an address of it";
  if (value == ColumnValue::Text && is(found, Kind::Pointer)) return "str() reads the text there";
  if (value == ColumnValue::Integer && is(found, Kind::Pointer)) return "write (uint64) before it";
  return "";
}

void Inferrer::check_cell(const TableDecl& table, size_t number, const Expr& value) {
  Type type = readable(info(value).type);
  if (is(type, Kind::Unknown)) return;
  const ColumnDecl& column = table.columns[number];
  const ColumnKindRow& kind =
      column_kind(program_.tables[&table - ast_.tables.data()].columns[number].kind);
  if (is(type, Kind::None)) {
    error(value.span, "this has no value that could stand in a row");
    return;
  }
  bool names_missing = kind.kind == ColumnKind::Enum && column.enum_name.empty() &&
                       is_integer(type) && !is(type, Kind::Enum);
  if (can_stand_in(type, kind.value) && !names_missing) return;
  Diagnostic& report = error(
      value.span, fmt::format("column '{}' of table '{}' takes {}, found '{}'", column.name,
                              table.name, names_missing ? "an enum" : kind.takes, type_name(type)));
  report.with_note(column.span, "the column is declared here");
  std::string hint =
      names_missing ? fmt::format("name the type in the declaration: enum NAME {}", column.name)
                    : hint_for(kind.value, type);
  if (!hint.empty()) report.with_hint(hint);
}

const TableDecl* Inferrer::find_table(std::string_view name) const {
  auto table = std::find_if(ast_.tables.begin(), ast_.tables.end(),
                            [&](const TableDecl& t) { return t.name == name; });
  return table == ast_.tables.end() ? nullptr : &*table;
}

void Inferrer::check_print_table(const Expr& expr, const TableDecl& table,
                                 const std::vector<ExprPtr>& args) {
  if (table.sorted_by.empty())
    error(expr.span, fmt::format("rows of table '{}' are written as they come", table.name))
        .with_hint(fmt::format("to hold them back until print(), declare 'table {} sorted by "
                               "COLUMN'",
                               table.name));
  if (args.size() > 2) error(expr.span, "print() of a table takes the number of rows only");
  if (args.size() == 2 && expect_integer(*args[1], "print"))
    expect_within(*args[1], "the number of rows of print()", 0, INT64_MAX);
}

void Inferrer::infer_emit(const Stmt& stmt, const Emit& emit) {
  if (!emit.values.empty()) current_ = emit.values[0]->id;
  for (const ExprPtr& value : emit.values) infer(*value);
  const TableDecl* table = find_table(emit.table);
  if (!table) {
    std::vector<std::string> names;
    for (const TableDecl& t : ast_.tables) names.push_back(t.name);
    std::optional<std::string> near = nearest(emit.table, names);
    error(emit.table_span, fmt::format("there is no table '{}'", emit.table))
        .with_hint(
            near ? fmt::format("did you mean '{}'?", *near)
                 : fmt::format("declare it: table {} {{ pid PID \"the process\"; }}", emit.table));
    return;
  }
  size_t wanted = table->columns.size(), given = emit.values.size();
  if (wanted != given) {
    error(stmt.span, fmt::format("table '{}' has {} column{}, found {} value{}", emit.table, wanted,
                                 wanted == 1 ? "" : "s", given, given == 1 ? "" : "s"))
        .with_note(table->span, "the table is declared here");
    return;
  }
  for (size_t i = 0; i < given; i++) check_cell(*table, i, *emit.values[i]);
}

}  // namespace flowtap
