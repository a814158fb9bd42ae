// Makes the body of one function call. Way in: instantiate().
//
// Functions are put in where they are called, so that what they are passed may be any value of
// the language, whatever the kernel lets a BPF function take. Their variables get names of their
// own (`$t` of the third call becomes `$t#3`); maps are those of the whole script.

#include "lang/fn_body.h"

#include <fmt/format.h>

#include "lang/clone.h"
#include "lang/rewriter.h"

namespace flowtap {

namespace {

class Renaming : public Rewriter {
 public:
  explicit Renaming(uint32_t number) : number_(number) {}
  void rename(std::string& name) const { name = fmt::format("{}#{}", name, number_); }
  void rename(TypeSpec& type) { this->type(type); }

 protected:
  void expr(ExprPtr& e) override {
    if (Variable* variable = std::get_if<Variable>(&e->node)) rename(variable->name);
    children(*e);
  }
  void stmt(Stmt& s) override {
    if (Let* let = std::get_if<Let>(&s.node)) rename(let->name);
    if (ForRange* loop = std::get_if<ForRange>(&s.node)) rename(loop->name);
    if (ForMap* loop = std::get_if<ForMap>(&s.node)) rename(loop->name);
    children(s);
  }

 private:
  uint32_t number_;
};

}  // namespace

FnCall instantiate(const Function& function, std::vector<ExprPtr>* args, uint32_t number,
                   uint32_t& next_id) {
  Renaming renaming(number);
  auto declare = [&](std::string name, Span span, const TypeSpec& type, ExprPtr value) {
    Let let{.name = std::move(name), .has_type = true, .type = clone(type, next_id)};
    renaming.rename(let.name);
    renaming.rename(let.type);
    let.value = std::move(value);
    let.name_span = span;
    let.is_parameter = true;
    return std::make_unique<Stmt>(Stmt{span, std::move(let)});
  };
  FnCall call{.name = function.name, .declared = function.span};
  for (size_t i = 0; i < function.params.size(); i++) {
    const Function::Param& param = function.params[i];
    ExprPtr value = args ? std::move((*args)[i]) : nullptr;
    call.params.push_back(declare(param.name, param.span, param.type, std::move(value)));
  }
  if (function.has_result)
    call.result = declare("return", function.result.span, function.result, nullptr);
  call.body = clone(function.body, next_id);
  renaming.rewrite(call.body);
  return call;
}

}  // namespace flowtap
