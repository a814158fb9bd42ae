#pragma once
// Values as text: what print() shows and %s inserts.

#include <string>

#include "base/bytes.h"
#include "output/symbolizer.h"
#include "output/value_visitor.h"
#include "types/type.h"

namespace flowtap {

// Compact leaves out the blanks that are there for the eye; keys of JSON objects use it. Text
// that came from the traced system keeps its own blanks, or two keys could become one.
enum class TextStyle : uint8_t { Plain, Compact };

class TextValues : public ValueVisitor {
 public:
  TextValues(std::string& out, const ValueContext& context, TextStyle style = TextStyle::Plain)
      : out_(out), context_(context), style_(style) {}

 protected:
  void none() override {}
  void boolean(bool is_true) override { out_ += is_true ? "true" : "false"; }
  void number(Scalar number) override { append_number(out_, number); }
  void enumerator(const Type& type, Scalar number) override;
  void pointer(Scalar address) override;
  void string(std::string_view text, bool is_cut) override;
  void buffer(Bytes payload) override;
  void looked_up(const Type& type, Bytes bytes) override;
  void begin(const Type& type) override;
  void member(const Type& type, size_t index) override;
  void end(const Type& type) override;
  void stats(const Type& type, Bytes bytes, uint64_t div) override;
  void histogram(const Type& type, Bytes bytes, uint64_t div) override;
  void series(const Type& type, Bytes bytes) override;

  std::string& out_;
  const ValueContext& context_;
  TextStyle style_;
};

void append_text(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                 TextStyle style = TextStyle::Plain);

// A map key: the outer parentheses of a tuple are dropped.
void append_key(std::string& out, const Type& type, Bytes bytes, const ValueContext& context,
                TextStyle style = TextStyle::Plain);

enum class BufferStyle : uint8_t { Printable, Escaped, Hex };  // a\x0a, \x61\x0a, 61 0a
void append_buffer(std::string& out, Bytes payload, BufferStyle style);

}  // namespace flowtap
