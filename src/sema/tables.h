#pragma once
// Declared tables: kinds and names of their columns.

#include <vector>

#include "bpf/image.h"
#include "lang/ast.h"
#include "sema/script_types.h"
#include "source/diagnostics.h"
#include "types/table.h"

namespace flowtap {

// In the order of Ast::tables.
IdVector<TableId, Table> check_tables(const Ast& ast, const ScriptTypes& types,
                                      Diagnostics& diagnostics);

}  // namespace flowtap
