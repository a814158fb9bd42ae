// The program that is being written; see code.h.

#include "lower/code.h"

#include "sema/unify.h"

namespace flowtap {

ProgramCode::ProgramCode(ir::Program& program) : program_(program) {
  program_.functions.push_back({.name = program_.name, .params = 1});
  builder_ = std::make_unique<ir::Builder>(program_, 0);
}

int32_t ProgramCode::add_function(const char* kind, uint32_t params,
                                  const std::function<void()>& body) {
  int32_t number = static_cast<int32_t>(program_.functions.size());
  program_.functions.push_back({.name = program_.name + kind + std::to_string(number),
                                .params = params,
                                .parent = builder_->function()});
  std::unique_ptr<ir::Builder> outer = std::move(builder_);
  builder_ = std::make_unique<ir::Builder>(program_, number);
  builder_->set_span(outer->span());
  body();
  builder_->finish();
  builder_ = std::move(outer);
  return number;
}

Type CodeWriter::type_of(const Expr& expr) const { return readable(info(expr).type); }

// Before Linux 6.4 the helpers of maps give an int, and what the upper half of the register holds
// is chance.
ir::Reg CodeWriter::map_result(Reg result) { return b().extend(reg(result), 4, true); }

void CodeWriter::note_site(SiteKind kind, const std::string& subject, Operand code) {
  int site = image_.add_site(kind, b().span(), subject);
  Reg base = b().map_value(image_.image().site_map, site * static_cast<int32_t>(kSiteSize));
  b().store(ir::at(base, 8), 8, code);
  b().atomic_add(ir::at(base), 8, imm(1));
}

}  // namespace flowtap
