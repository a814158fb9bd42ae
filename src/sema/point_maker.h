#pragma once
// What the expansion of every kind of attach point needs: the parts as written, where points and
// mistakes go.

#include <string>
#include <utility>
#include <vector>

#include "builtins/probes.h"
#include "sema/checked.h"
#include "sema/left_out.h"

namespace flowtap {

struct AttachExpansion {
  const AttachSpec& spec;
  const Target& target;
  const CheckOptions& options;
  Diagnostics& diagnostics;
  std::vector<AttachPoint> points;
  std::vector<LeftOut> left_out;
};

class PointMaker {
 public:
  explicit PointMaker(AttachExpansion& expansion)
      : spec_(expansion.spec),
        target_(expansion.target),
        options_(expansion.options),
        diagnostics_(expansion.diagnostics),
        points_(expansion.points),
        left_out_(expansion.left_out) {}

 protected:
  size_t count() const { return spec_.parts.size() - 1; }
  const std::string& part(size_t i) const { return spec_.parts[i]; }
  Diagnostic& error(std::string message);
  bool expect_parts(const ProbeRow& row, size_t least, size_t most);
  AttachPoint& add(ProbeKind kind, std::string name);
  // "name+0x10" -> "name" and 16.
  bool split_offset(std::string& function, uint64_t& offset);

  const AttachSpec& spec_;
  const Target& target_;
  const CheckOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<AttachPoint>& points_;
  std::vector<LeftOut>& left_out_;
};

}  // namespace flowtap
