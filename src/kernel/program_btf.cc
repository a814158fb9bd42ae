// BTF for a program's functions. Way in: encode_program_btf().
//
// A callback (the body of a loop) is passed to a helper by the address of its first instruction.
// The verifier accepts that only if BTF says that a function begins there and that it is static:
// a static function is checked where it is called, with the registers it gets there, so that the
// types of its parameters do not matter. Three types are enough for all functions:
//
//   header | types: [1] INT "int"  [2] FUNC_PROTO int(void)  [3] FUNC main  [4] FUNC callback ...
//          | strings: "\0int\0main\0callback\0"

#include "kernel/program_btf.h"

#include <linux/btf.h>

#include <cctype>
#include <cstring>
#include <string>

#include "base/bytes.h"

namespace flowtap {
namespace {

constexpr uint32_t kIntType = 1;
constexpr uint32_t kProtoType = 2;
constexpr uint32_t kFirstFunction = 3;

class BtfBytes {
 public:
  uint32_t add_string(const std::string& text) {
    uint32_t at = static_cast<uint32_t>(strings_.size());
    strings_.append(text).push_back('\0');
    return at;
  }
  void add_type(uint32_t name, uint32_t kind, uint32_t linkage, uint32_t size_or_type) {
    word(name);
    word(kind << 24 | linkage);
    word(size_or_type);
  }
  void word(uint32_t value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    types_.append(bytes, sizeof value);
  }

  std::vector<std::byte> finish() const {
    btf_header header = {};
    header.magic = BTF_MAGIC;
    header.version = BTF_VERSION;
    header.hdr_len = sizeof header;
    header.type_len = static_cast<uint32_t>(types_.size());
    header.str_off = header.type_len;
    header.str_len = static_cast<uint32_t>(strings_.size());
    std::string all(reinterpret_cast<const char*>(&header), sizeof header);
    all += types_ + strings_;
    std::vector<std::byte> bytes(all.size());
    std::memcpy(bytes.data(), all.data(), all.size());
    return bytes;
  }

 private:
  std::string types_;
  std::string strings_ = std::string(1, '\0');
};

std::string identifier(const std::string& name) {
  bool is_plain = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  std::string out = is_plain ? "" : "_";
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out.substr(0, 127);
}

}  // namespace

ProgramBtf encode_program_btf(const Program& program) {
  BtfBytes btf;
  btf.add_type(btf.add_string("int"), BTF_KIND_INT, 0, 4);
  btf.word(BTF_INT_SIGNED << 24 | 32);
  btf.add_type(0, BTF_KIND_FUNC_PROTO, 0, kIntType);
  ProgramBtf out;
  for (const Subprogram& function : program.subprograms) {
    uint32_t number = static_cast<uint32_t>(out.functions.size());
    uint32_t linkage = number == 0 ? BTF_FUNC_GLOBAL : BTF_FUNC_STATIC;
    btf.add_type(btf.add_string(identifier(function.name)), BTF_KIND_FUNC, linkage, kProtoType);
    out.functions.push_back({function.insn, kFirstFunction + number});
  }
  out.bytes = btf.finish();
  return out;
}

}  // namespace flowtap
