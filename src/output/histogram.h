#pragma once
// Hist and Lhist values: rows with bars, or a JSON list of buckets.

#include <string>

#include "base/bytes.h"
#include "types/type.h"

namespace flowtap {

// Rows, each with its newline; nothing when every bucket is empty. `div` divides the counts shown
// for Hist; Lhist has never honoured it.
void append_histogram(std::string& out, const Type& type, Bytes bytes, uint64_t div = 1);

// [{"min": 4, "max": 7, "count": 1}], with both ends inclusive and open ends left out.
void append_histogram_json(std::string& out, const Type& type, Bytes bytes, uint64_t div = 1);

// A line for each bucket: `entry`, then the smallest and the largest value and the count. The ends
// of open buckets are left empty.
void append_histogram_csv(std::string& out, const std::string& entry, const Type& type, Bytes bytes,
                          uint64_t div = 1);

uint64_t histogram_total(Bytes bytes);

}  // namespace flowtap
