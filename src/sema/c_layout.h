#pragma once
// Where a C compiler puts the members of a struct or union: the rules of the System V ABI, and
// those of GCC for `packed` and `aligned`.

#include <cstdint>

namespace flowtap {

class CLayout {
 public:
  struct Member {
    uint64_t size = 0;       // bytes of its type
    uint64_t alignment = 1;  // of its type
    int64_t bits = -1;       // width of a bit field; -1: it is none
    bool has_name = true;
    bool is_packed = false;
    uint64_t wanted = 0;  // the alignment that it asks for itself; 0: none
  };

  // `alignment`: what the struct asks for; 0: nothing.
  CLayout(bool is_union, uint64_t alignment);

  // The bit at which the next member begins.
  uint64_t place(const Member& member);
  uint64_t alignment() const { return alignment_; }
  uint64_t size() const;  // bytes

 private:
  uint64_t place_bits(const Member& member);
  uint64_t advance(uint64_t begin, uint64_t bits);

  bool is_union_;
  uint64_t alignment_;           // bytes
  uint64_t next_ = 0, end_ = 0;  // bits
};

}  // namespace flowtap
