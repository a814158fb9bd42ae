// Declarations of tables. Entry point: check_tables(); infer_rows.cc has the rows that are emitted
// to them.

#include "sema/tables.h"

#include <fmt/format.h>

#include "base/text.h"

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

IdVector<TableId, Table> check_tables(const Ast& ast, const ScriptTypes& types,
                                      Diagnostics& diagnostics) {
  IdVector<TableId, Table> tables;
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

}  // namespace flowtap
