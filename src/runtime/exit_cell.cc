// The exit cell; see exit_cell.h. Entry point: ExitCell::open(). Its layout is in bpf/image.h.

#include "runtime/exit_cell.h"

#include <sys/mman.h>

#include "base/page.h"
#include "bpf/image.h"

namespace flowtap {

Result<ExitCell> ExitCell::open(int map_fd) {
  size_t page = page_size();
  Result<MappedMemory> memory = MappedMemory::open(map_fd, page, PROT_READ | PROT_WRITE, 0);
  if (!memory) return memory.error();
  ExitCell cell;
  cell.memory_ = std::move(*memory);
  return cell;
}

static uint64_t* word_at(const MappedMemory& memory, size_t offset) {
  return reinterpret_cast<uint64_t*>(memory.data() + offset);
}

bool ExitCell::is_called() const {
  return __atomic_load_n(word_at(memory_, kExitCalled), __ATOMIC_ACQUIRE) != 0;
}

int ExitCell::code() const {
  return static_cast<int>(__atomic_load_n(word_at(memory_, kExitCode), __ATOMIC_RELAXED));
}

void ExitCell::reset() {
  *word_at(memory_, kExitCode) = 0;
  __atomic_store_n(word_at(memory_, kExitCalled), 0, __ATOMIC_RELEASE);
}

}  // namespace flowtap
