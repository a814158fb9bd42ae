#pragma once
// The program that is being written, function by function, and what all classes that write parts
// of it have.

#include <functional>
#include <memory>
#include <string>

#include "lower/image_builder.h"
#include "lower/value.h"

namespace flowtap {

class ProgramCode {
 public:
  explicit ProgramCode(ir::Program& program);

  ir::Program& program() { return program_; }
  ir::Builder& builder() { return *builder_; }
  // Adds a function that the kernel calls back, which `body` writes; answers its number.
  int32_t add_function(const char* kind, uint32_t params, const std::function<void()>& body);

 private:
  ir::Program& program_;
  std::unique_ptr<ir::Builder> builder_;  // of the function that is being written
};

class CodeWriter {
 public:
  CodeWriter(ProgramCode& code, ImageBuilder& image) : code_(code), image_(image) {}

 protected:
  using Operand = ir::Operand;
  using Address = ir::Address;
  using Reg = ir::Reg;

  static Value scalar(Type type, Operand operand) { return {std::move(type), operand, {}}; }
  static Value memory(Type type, Address address) { return {std::move(type), {}, address}; }
  static Operand imm(int64_t value) { return ir::imm_operand(value); }
  static Operand reg(Reg r) { return ir::reg_operand(r); }

  ir::Builder& b() { return code_.builder(); }
  const ExprInfo& info(const Expr& expr) const { return image_.checked().of(expr); }
  const Arch& arch() const { return image_.target().arch(); }
  Type type_of(const Expr& expr) const;  // aggregations read as integers
  Reg map_result(Reg result);
  // Counts at this place of the script that something went wrong.
  void note_site(SiteKind kind, const std::string& subject, Operand code);

  ProgramCode& code_;
  ImageBuilder& image_;
};

}  // namespace flowtap
