#pragma once
// Builtins that reach kernel objects or the traced program by special means.

#include "lower/code.h"
#include "lower/context.h"
#include "lower/locations.h"
#include "lower/lowering.h"
#include "lower/memory.h"
#include "lower/record_buffer.h"
#include "lower/strings.h"

namespace flowtap {

class KernelObjects : private CodeWriter {
 public:
  struct Uses {
    Memory& memory;
    RecordBuffer& buffer;
    ProbeContext& context;
    Locations& locations;
    Strings& strings;
    ExpressionLowering& expressions;
  };
  KernelObjects(const CodeWriter& base, const Instance& instance, const Uses& uses)
      : CodeWriter(base), instance_(instance), uses_(uses) {}
  Value lower_container_of(const Expr& expr, const std::vector<ExprPtr>& args);
  void lower_config(Address to, const Type& type);
  void lower_path(const Expr& expr, const Expr& arg, Address to, const Type& type);
  Value lower_percpu_kaddr(const Expr& expr, const std::vector<ExprPtr>& args);
  Value lower_uaddr(const Expr& expr, const Expr& arg);
  Value lower_socket_cookie(const Expr& expr, const Expr& arg);
  Value lower_skboutput(const Expr& expr, const std::vector<ExprPtr>& args);
  Value lower_write_user(const std::vector<ExprPtr>& args);

 private:
  const Instance& instance_;
  Uses uses_;
};

}  // namespace flowtap
