#pragma once
// A per-CPU map has one copy of a value for every possible CPU. Merging makes them one again.

#include <cstddef>
#include <span>

#include "base/bytes.h"
#include "types/type.h"

namespace flowtap {

// The distance between two copies as bpf(2) returns them.
size_t cpu_stride(const Type& type);

// `copies` is what a lookup in a per-CPU map gave: whole strides, one per CPU. `merged` has
// type->size bytes and comes out in the same layout.
void merge_cpus(const Type& type, Bytes copies, std::span<std::byte> merged);

// Adds one more part of an aggregation to another.
void merge_value(const Type& type, Bytes copy, std::span<std::byte> merged);

}  // namespace flowtap
