#pragma once
// Maps that are per thread (MapInfo::is_per_thread) in task storage, which is found faster than a
// key in a hash, cannot fill up, and goes away with its thread. A value lies behind a word that
// tells whether the key exists:
//   | u64 present | value ... |

#include "lower/code.h"
#include "lower/memory.h"

namespace flowtap {

inline constexpr uint32_t kPresentSize = 8;

class LocalStorage : private CodeWriter {
 public:
  LocalStorage(const CodeWriter& base, Memory& memory) : CodeWriter(base), memory_(memory) {}
  Reg local_storage(MapId number, Operand task, int64_t flags);
  Reg lookup_local(MapId number);
  Reg create_local(MapId number, int32_t present, int32_t absent);
  Value delete_local(MapId number);

 private:
  Memory& memory_;
};

// Runs once per thread as a task iterator, and writes its entry.
class MapDump : private CodeWriter {
 public:
  MapDump(const CodeWriter& base, Memory& memory, LocalStorage& storage)
      : CodeWriter(base), memory_(memory), storage_(storage) {}
  void run(MapId number);

 private:
  Memory& memory_;
  LocalStorage& storage_;
};

// The body of the program that writes the entries of a per-thread map; see Dump in bpf/image.h.
void lower_dump(ImageBuilder& image, ir::Program& program, MapId map);

}  // namespace flowtap
