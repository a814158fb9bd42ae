#pragma once
// What assignments do to the types of variables and maps.

#include "sema/inference.h"

namespace flowtap {

class StoredTypes : private Inference {
 public:
  StoredTypes(const Inference& base, ExpressionInference& expressions)
      : Inference(base), expressions_(expressions) {}
  void assign_variable(VariableId variable, const Expr& value, Span span);
  void assign_variable_type(VariableId variable, const Meeting& value, Span span);
  void assign_map(MapInfo& map, const Expr& value, bool is_direct);
  void assign_map_type(MapInfo& map, const Meeting& value, Span span);
  MapInfo& reach_map(const Expr& access);
  MapInfo& use_map(const Expr& access, bool has_key);
  void use_key(MapInfo& map, const Expr& key);
  bool can_hold(const Type& declared, const Expr& value);
  void finish_maps();
  void finish_variables();

 private:
  static std::string found_text(const ExprInfo& from);
  static Diagnostic& note_map(Diagnostic& report, const MapInfo& map);
  void follow_spaces(Type& type, const Type& declared, const Type& found);
  void use_declared_key(MapInfo& map, const Expr& key);
  bool follows_address(VariableInfo& pointer, const Expr& value);
  Type settled(const Type& type);
  void check_declaration(const MapInfo& map);

  ExpressionInference& expressions_;
};

}  // namespace flowtap
