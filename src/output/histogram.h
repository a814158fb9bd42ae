#pragma once
// Hist and Lhist values: rows with bars, and the buckets by themselves.

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "output/scalar.h"
#include "types/type.h"

namespace flowtap {

// Rows, each with its newline; nothing when every bucket is empty. `div` divides the counts shown
// for Hist; Lhist has never honoured it.
void append_histogram(std::string& out, const Type& type, Bytes bytes, uint64_t div = 1);

struct CountedBucket {
  std::optional<Scalar> min, max;  // the smallest and the largest value; none for an open end
  Scalar count;
};

// From the first to the last that counted something.
std::vector<CountedBucket> counted_buckets(const Type& type, Bytes bytes, uint64_t div = 1);

uint64_t histogram_total(Bytes bytes);

}  // namespace flowtap
