#pragma once
// Rows as aligned text under a heading.

#include <string>
#include <vector>

#include "output/row.h"

namespace flowtap {

// Remembers how wide each column has become: nothing is cut, later rows follow the widest.
class TextTables {
 public:
  // The heading, unless it stands there already.
  void heading(std::string& out, const Table& table);
  // The row, below its heading. Stacks follow on lines of their own.
  void row(std::string& out, const Row& row, const ValueContext& context);
  // The next row stands under a heading of its own.
  void end_of_rows() { is_ended_ = true; }
  bool is_ended() const { return is_ended_; }
  // Something of another shape follows: an empty line, if rows came before it.
  void close(std::string& out);
  bool is_used() const { return !widths_.empty(); }

 private:
  struct Widths {
    const Table* table;
    std::vector<size_t> columns;
  };
  std::vector<size_t>& widths_of(const Table& table);

  std::vector<Widths> widths_;
  const Table* last_ = nullptr;  // the table that the last row or heading was of
  bool is_ended_ = false;
};

}  // namespace flowtap
