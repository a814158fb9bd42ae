#pragma once
// HeldRows: rows of sorted tables, kept until the script prints them.

#include <vector>

#include "bpf/image.h"
#include "output/writer.h"

namespace flowtap {

class HeldRows {
 public:
  HeldRows(const Image& image, Writer& writer)
      : image_(image), writer_(writer), tables_(image.tables.size()) {}

  void add(const Event& event, Bytes record);
  // The largest first, at most `top` of them (0: all); equal ones in the order they came. Forgets
  // them all.
  void write(TableId table, uint64_t top = 0);
  // What no print() asked for.
  void write_rest();

 private:
  struct Held {
    int64_t key;
    const Event* event;
    std::vector<std::byte> record;
  };

  const Image& image_;
  Writer& writer_;
  IdVector<TableId, std::vector<Held>> tables_;
};

}  // namespace flowtap
