#pragma once
// Types and constants that a script sees by name: those it defines itself, then the machine's,
// then the constants of the UAPI headers.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lang/c_parser.h"
#include "source/diagnostics.h"
#include "target/target.h"

namespace flowtap {

class ScriptTypes {
 public:
  ScriptTypes(const CDeclarations& declarations, const Target& target, Diagnostics& diagnostics);

  // "struct x", "union x", "enum x", a typedef, or a builtin name such as "uint32". Null: unknown.
  // Types of `program`, if one is named, come before those of the kernel.
  Type find_type(const std::string& name, const std::string& program = {}) const;
  // Whether it means the same everywhere: "int", "uint64", "string"...
  static bool is_basic(const std::string& name);
  // Whether the script itself defines a type of this name.
  bool is_declared(const std::string& name) const { return defined_.contains(name); }
  // A Struct with its fields filled in.
  Type complete(const Type& type) const;
  // The same for everything that lies inside by value, as printing the whole needs.
  Type complete_all(const Type& type) const;
  std::optional<EnumConstant> find_enumerator(const std::string& name) const;

 private:
  void define_enum(const CEnum& definition);
  void define_struct(const CStruct& definition, Diagnostics& diagnostics);
  Type resolve(const CType& type) const;
  bool check_member(const CField& member, const std::string& owner, const Type& type,
                    Diagnostics& diagnostics) const;
  uint32_t alignment(const Type& type, int depth = 0) const;

  const Target& target_;
  std::set<std::string> declared_;  // with those whose layout is not known yet
  std::map<std::string, Type> defined_;
  std::map<std::string, EnumConstant> enumerators_;
};

}  // namespace flowtap
