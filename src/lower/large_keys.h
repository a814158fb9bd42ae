#pragma once
// Keys that are looked up by a digest; large_keys.cc explains them.

#include "lower/code.h"
#include "lower/memory.h"

namespace flowtap {

// What the kernel looks up, and the key as the script knows it. These are one for small keys.
struct MapKey {
  ir::Address id, whole;
};

class LargeKeys : private CodeWriter {
 public:
  LargeKeys(const CodeWriter& base, Memory& memory) : CodeWriter(base), memory_(memory) {}
  MapKey digest_key(Address whole, const Type& type);
  void keep_whole_key(MapId number, const MapKey& key, Reg answer, int32_t full);
  void drop_whole_key(MapId number, const MapKey& key);
  Address whole_key(MapId number, Reg key);

 private:
  struct Hash {
    Reg a, b;
  };
  struct HashedBytes {
    Address address;
    uint32_t size = 0;
    Type type;
    bool is_in_scratch = false;
    Reg used = ir::kNoReg;  // how many bytes of a stack hold frames
  };
  void hash_word(const Hash& hash, Reg word);
  void hash_value(const Hash& hash, Address value, const Type& type, bool is_in_scratch);
  void hash_bytes(const Hash& hash, const HashedBytes& bytes);
  void hash_in_loop(const Hash& hash, const HashedBytes& bytes, uint32_t first);
  void hash_round(const HashedBytes& bytes, uint32_t first, uint32_t rounds);
  void leave_at_end(const HashedBytes& bytes, Operand next, Reg word, uint32_t step, int32_t done);

  Memory& memory_;
};

}  // namespace flowtap
