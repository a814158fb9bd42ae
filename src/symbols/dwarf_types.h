#pragma once
// Types and parameters of user programs, from their debug information. Structs are lazy, as those
// of the kernel are: they have a name, a size and a number, and complete() lists their members.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "types/type.h"

namespace flowtap {

class DwarfTypes {
 public:
  DwarfTypes();
  ~DwarfTypes();

  // The parameters of the function that begins at an ELF virtual address, as far as their places
  // are known. The offset of a field is 8 * the number of the argN that holds it.
  Result<std::vector<Field>> parameters(const std::string& path, uint64_t address);
  // "struct x", "union x", "enum x" or a typedef. Null: the program does not know it. An error:
  // there is no debug information.
  Result<Type> find(const std::string& path, std::string_view name);
  // Whether a struct is one of those that complete() knows.
  static bool is_ours(const Type& type) { return type->definition <= kFirstNumber; }
  Type complete(const Type& type);

 private:
  static constexpr int32_t kFirstNumber = -2;  // -1 is no number, and the kernel's begin with 0
  class Program;
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace flowtap
