#pragma once
// The lines of C definitions that begin with '#': which names are defined, and which parts of the
// text count.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/c_constant.h"
#include "lang/c_parser.h"
#include "lang/token.h"

namespace flowtap {

class Directives {
 public:
  Directives(std::span<const std::string> predefined, CDeclarations& out, Diagnostics& diagnostics);

  // One whole line. `lookup` knows the enumerators seen so far.
  void line(const CDefinition& definition, const ConstantLookup& lookup);

  // Does the text that follows count?
  bool is_active() const { return open_.empty() || open_.back().is_active; }

  // After the last line: everything opened must be closed.
  void finish();

 private:
  // An #if that waits for its #endif.
  struct Open {
    Span span;
    bool is_active = false;   // the text counts now
    bool was_active = false;  // this or an earlier branch counted, or the #if itself does not
    bool seen_else = false;
  };

  void define(const CDefinition& definition, const std::vector<Token>& tokens);
  void undefine(std::span<const Token> rest);
  void conditional(std::string_view word, Span span, std::span<const Token> rest,
                   const ConstantLookup& lookup);
  void open(Span span, bool condition);
  void branch(Span span, std::string_view word, bool condition);
  bool is_defined(const std::string& name) const;
  bool evaluate(Span span, std::span<const Token> rest, const ConstantLookup& lookup);

  std::vector<std::string> predefined_;
  CDeclarations& out_;
  Diagnostics& diagnostics_;
  std::vector<Open> open_;
};

}  // namespace flowtap
