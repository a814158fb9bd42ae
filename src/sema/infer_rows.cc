// Rows of tables; see infer_rows.h.

#include "sema/infer_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sema/tables.h"

namespace flowtap {

static std::string hint_for(ColumnValue value, const Type& found) {
  if (value == ColumnValue::Address)
    return is(found, Kind::String) ? "" : "ntop() makes an address of it";
  if (value == ColumnValue::Text && is(found, Kind::Pointer)) return "str() reads the text there";
  if (value == ColumnValue::Integer && is(found, Kind::Pointer)) return "write (uint64) before it";
  return "";
}

void RowTypes::infer_emit(const Stmt& stmt, const Emit& emit) {
  if (!emit.values.empty()) walk_.current = emit.values[0]->id;
  for (const ExprPtr& value : emit.values) expressions_.infer(*value);
  const TableDecl* table = find_table(emit.table);
  if (!table) {
    std::vector<std::string> names;
    for (const TableDecl& t : input_.ast.tables) names.push_back(t.name);
    std::optional<std::string> near = nearest(emit.table, names);
    error(emit.table_span, fmt::format("there is no table '{}'", emit.table))
        .with_hint(
            near ? fmt::format("did you mean '{}'?", *near)
                 : fmt::format("declare it: table {} {{ pid PID \"the process\"; }}", emit.table));
    return;
  }
  size_t wanted = table->columns.size(), given = emit.values.size();
  if (wanted != given) {
    error(stmt.span, fmt::format("table '{}' has {}, found {}", emit.table,
                                 counted(wanted, "column"), counted(given, "value")))
        .with_note(table->span, "the table is declared here");
    return;
  }
  for (size_t i = 0; i < given; i++) check_cell(*table, i, *emit.values[i]);
}

void RowTypes::check_cell(const TableDecl& table, size_t number, const Expr& value) {
  Type type = readable(info(value).type);
  if (is(type, Kind::Unknown)) return;
  const ColumnDecl& column = table.columns[number];
  TableId id(static_cast<size_t>(&table - input_.ast.tables.data()));
  const ColumnKindRow& kind = column_kind(program_.tables[id].columns[number].kind);
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

const TableDecl* RowTypes::find_table(std::string_view name) const {
  auto table = std::find_if(input_.ast.tables.begin(), input_.ast.tables.end(),
                            [&](const TableDecl& t) { return t.name == name; });
  return table == input_.ast.tables.end() ? nullptr : &*table;
}

void RowTypes::check_print_table(const Expr& expr, const TableDecl& table,
                                 const std::vector<ExprPtr>& args) {
  if (table.sorted_by.empty())
    error(expr.span, fmt::format("rows of table '{}' are written as they come", table.name))
        .with_hint(fmt::format("to hold them back until print(), declare 'table {} sorted by "
                               "COLUMN'",
                               table.name));
  if (args.size() > 2) error(expr.span, "print() of a table takes the number of rows only");
  if (args.size() == 2 && arguments_.expect_integer(*args[1], "print"))
    arguments_.expect_within(*args[1], "the number of rows of print()", 0, INT64_MAX);
}

}  // namespace flowtap
