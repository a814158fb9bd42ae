#pragma once
// Giving up rights. Loading and attaching need many; what follows is reading, and a fault in that
// part should be worth little to whoever provokes it.

#include <cstdint>

#include "base/result.h"

namespace flowtap {

// What a run still has to do once everything is attached.
struct LaterNeeds {
  bool writes_files = false;  // skboutput() makes its files when the first packet comes
  bool has_child = false;     // -c: its process is ended, whoever it runs as by then
};

// The capabilities that are kept, as bits.
uint64_t kept_capabilities(const LaterNeeds& needs);

// Keeps those only, of the ones we have, and forbids getting new ones. For this thread and those it
// starts from now on.
Status drop_rights(const LaterNeeds& needs);

}  // namespace flowtap
