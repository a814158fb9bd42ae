// HeldRows: sorting, and handing over to the writer.

#include "runtime/held_rows.h"

#include <algorithm>

#include "output/decode.h"

namespace flowtap {

void HeldRows::add(const Event& event, Bytes record) {
  size_t table = static_cast<size_t>(event.table);
  const Field& by = event.args.at(static_cast<size_t>(image_.tables.at(table).sorted_by));
  int64_t key = load_int(field_bytes(by, record), by.type->size, by.type->is_signed);
  tables_[table].push_back({key, &event, {record.begin(), record.end()}});
}

void HeldRows::write(size_t table, uint64_t top) {
  std::vector<Held> rows = std::move(tables_.at(table));
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
    if (!tables_[i].empty()) write(i);
}

}  // namespace flowtap
