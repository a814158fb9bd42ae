#pragma once
// ExitCell: where programs note that the script has called exit(), and with which code. A record
// says so as well, in its place among the others, but may find the ring buffer full.

#include "base/result.h"
#include "read/mapped_memory.h"

namespace flowtap {

class ExitCell {
 public:
  static Result<ExitCell> open(int map_fd);

  bool is_called() const;
  int code() const;  // of the first call; 0 before it
  void reset();      // so that another program can be run

 private:
  MappedMemory memory_;
};

}  // namespace flowtap
