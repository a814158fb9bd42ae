// HeldRows: sorting, and handing over to the writer.

#include "runtime/held_rows.h"

#include <algorithm>

#include "output/decode.h"

namespace flowtap {

void HeldRows::add(const Event& event, Bytes record) {
  const Field& by = event.args.at(static_cast<size_t>(image_.tables[event.table].sorted_by));
  int64_t key = load_int(field_bytes(by, record), by.type->size, by.type->is_signed);
  tables_[event.table].push_back({key, &event, {record.begin(), record.end()}});
}

void HeldRows::write(TableId table, uint64_t top) {
  std::vector<Held> rows = std::move(tables_[table]);
  tables_[table].clear();
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Held& a, const Held& b) { return a.key > b.key; });
  if (top && rows.size() > top) rows.resize(top);
  writer_.heading(image_.tables[table]);
  for (const Held& row : rows) writer_.row({image_.tables[table], row.event->args, row.record});
  writer_.end_of_rows();
}

void HeldRows::write_rest() {
  for (size_t i = 0; i < tables_.size(); i++)
    if (!tables_[TableId(i)].empty()) write(TableId(i));
}

}  // namespace flowtap
