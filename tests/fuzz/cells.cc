// Any bytes as the only cell of a row, and as one of several: a reader of CSV gets back as many
// rows as were written, with the same text in them.

#include "support.h"
#include "three_writers.h"

using namespace flowtap;

static Table table_of(size_t columns) {
  Table table{.name = "t"};
  for (size_t i = 0; i < columns; i++)
    table.columns.push_back(make_column("C" + std::to_string(i), ColumnKind::String, ""));
  return table;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Table tables[] = {table_of(1), table_of(3)};
  constexpr uint32_t kCell = 12;
  fuzz::Input input(data, size);
  const Table& table = tables[input.u8() % 2];
  std::vector<Field> fields;
  for (uint32_t i = 0; i < table.columns.size(); i++)
    fields.push_back({.type = string_type(kCell), .offset = i * kCell});

  std::vector<std::vector<std::byte>> records;
  while (!input.empty()) {
    records.push_back(input.filled(kCell * table.columns.size()));
    for (const Field& field : fields)  // strings that were not cut
      records.back()[field.offset + kCell - 1] = std::byte{0};
  }
  fuzz::Written written = fuzz::write_in_all_formats({}, [&](Writer& writer, ValueContext) {
    writer.heading(table);
    for (const std::vector<std::byte>& record : records) writer.row({table, fields, record});
  });
  fuzz::check_json_lines(written.json);
  CHECK(fuzz::check_csv_blocks(written.csv) == records.size());
  std::vector<std::vector<std::string>> rows = *fuzz::read_csv(written.csv);
  for (size_t i = 0; i < records.size(); i++)
    for (const Field& field : fields)
      CHECK(rows[i + 1][field.offset / kCell] ==
            reinterpret_cast<const char*>(records[i].data() + field.offset));
  // A terminal does nothing but show text for people.
  for (char c : written.text)
    CHECK(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
  return 0;
}
