#pragma once
// Walks over a value by its type and tells a format what it meets: numbers, text, and structures
// with what is in them. A format says how each looks.

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "output/map_order.h"
#include "output/scalar.h"
#include "types/type.h"

namespace flowtap {

class ValueVisitor {
 public:
  virtual ~ValueVisitor() = default;

  void visit(const Type& type, Bytes bytes);
  // What a map's entry stands for: `div` divides it, but never a number inside a tuple.
  void visit_entry(const MapContent& map, Bytes value);
  // What is in a tuple or struct, without what begins and ends it.
  void visit_members(const Type& type, Bytes bytes);

 protected:
  virtual void none() = 0;
  virtual void boolean(bool is_true) = 0;
  virtual void number(Scalar number) = 0;
  virtual void enumerator(const Type& type, Scalar number) = 0;
  virtual void pointer(Scalar address) = 0;
  virtual void string(std::string_view text, bool is_cut) = 0;
  virtual void buffer(Bytes payload) = 0;
  // Stacks, symbols, users, addresses...: what has a text of its own, perhaps looked up.
  virtual void looked_up(const Type& type, Bytes bytes) = 0;
  // Array, Tuple, Struct or Record.
  virtual void begin(const Type& type) = 0;
  virtual void member(const Type& type, size_t index) = 0;  // comes before each
  virtual void end(const Type& type) = 0;
  virtual void stats(const Type& type, Bytes bytes, uint64_t div) = 0;
  virtual void histogram(const Type& type, Bytes bytes, uint64_t div) = 0;
  virtual void series(const Type& type, Bytes bytes) = 0;

 private:
  void visit_field(const Field& field, Bytes parent, bool is_struct);
};

}  // namespace flowtap
