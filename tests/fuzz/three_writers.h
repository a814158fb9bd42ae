#pragma once
// The same records through all three writers, and a look at what they made of them.

#include <functional>

#include "base/check.h"
#include "formats.h"
#include "output/csv_writer.h"
#include "output/json_writer.h"
#include "output/test_support.h"
#include "output/text_writer.h"

namespace flowtap::fuzz {

struct Written {
  std::string text, json, csv;
};

inline Written write_in_all_formats(std::span<const std::string> strings,
                                    const std::function<void(Writer&, ValueContext)>& write) {
  testing_support::FakeSymbolizer symbolizer;
  ValueContext values{symbolizer, strings};
  Sink text(-1), json(-1), csv(-1), messages(-1);
  TextWriter text_writer(text, messages, values);
  JsonWriter json_writer(json, values);
  CsvWriter csv_writer(csv, messages, values);
  for (Writer* writer : {static_cast<Writer*>(&text_writer), static_cast<Writer*>(&json_writer),
                         static_cast<Writer*>(&csv_writer)})
    write(*writer, values);
  return {text.buffer(), json.buffer(), csv.buffer()};
}

// Each line of JSON is an object of its own.
inline void check_json_lines(std::string_view lines) {
  while (!lines.empty()) {
    size_t end = lines.find('\n');
    CHECK(end != std::string_view::npos);
    CHECK(lines[0] == '{' && is_json(lines.substr(0, end)));
    lines.remove_prefix(end + 1);
  }
}

// Blocks of records that have as many cells as the heading above them; empty lines part them.
inline size_t check_csv_blocks(std::string_view text) {
  auto records = read_csv(text);
  CHECK(records);
  size_t columns = 0, rows = 0;
  for (const std::vector<std::string>& cells : *records) {
    if (columns == 0) {
      CHECK(!cells.empty());  // a heading
      columns = cells.size();
    } else if (cells.empty()) {
      columns = 0;
    } else {
      CHECK(cells.size() == columns);
      rows++;
    }
  }
  return rows;
}

}  // namespace flowtap::fuzz
