// The length of x86-64 instructions. Way in: x86_instruction_length(). An instruction is
//
//   prefixes | REX, VEX, EVEX or XOP | opcode | ModRM | SIB | displacement | immediate
//
// Four tables, one per map of opcodes, say by a letter what follows an opcode. All else is regular:
// ModRM alone tells whether there is a SIB byte and how long the displacement is.
//
//   .  nothing                      M  ModRM
//   b  immediate of 1 byte          B  ModRM and an immediate of 1 byte
//   w  of 2 bytes                   Z  ModRM and an immediate of 4 bytes, 2 with prefix 66
//   z  of 4 bytes, 2 with 66        t  like B, u like Z, but the immediate is there only for the
//   v  like z, but 8 with REX.W        first two operations that ModRM selects (test)
//   j  distance of 4 bytes          e  2 and 1 bytes (enter)
//   a  address of 8 bytes, 4 with 67
//   p  a prefix                     x  no instruction, or the start of something longer
//
// Vector instructions with VEX and EVEX use the same maps with few exceptions.

#include "arch/x86_length.h"

#include <string_view>

namespace flowtap {

namespace {

using Map = std::string_view;

constexpr Map kOneByte =
    "MMMMbzxxMMMMbzxx"  // 00
    "MMMMbzxxMMMMbzxx"
    "MMMMbzpxMMMMbzpx"
    "MMMMbzpxMMMMbzpx"
    "xxxxxxxxxxxxxxxx"  // 40: REX
    "................"
    "xxxMppppzZbB...."  // 62: EVEX
    "bbbbbbbbbbbbbbbb"
    "BZxBMMMMMMMMMMMM"  // 80
    "..........x....."
    "aaaa....bz......"
    "bbbbbbbbvvvvvvvv"
    "BBw.xxBZe.w..bx."  // c4, c5: VEX
    "MMMMxxx.MMMMMMMM"
    "bbbbbbbbjjxb...."
    "p.pp..tu......MM";

constexpr Map kTwoBytes =  // after 0f
    "MMMMx.....x.xM.B"
    "MMMMMMMMMMMMMMMM"
    "MMMMxxxxMMMMMMMM"
    "......x.xxxxxxxx"  // 38, 3a: three bytes
    "MMMMMMMMMMMMMMMM"  // 40
    "MMMMMMMMMMMMMMMM"
    "MMMMMMMMMMMMMMMM"
    "BBBBMMM.MMxxMMMM"
    "jjjjjjjjjjjjjjjj"  // 80
    "MMMMMMMMMMMMMMMM"
    "...MBMxx...MBMMM"
    "MMMMMMMMMMBMMMMM"
    "MMBMBBBM........"  // c0
    "MMMMMMMMMMMMMMMM"
    "MMMMMMMMMMMMMMMM"
    "MMMMMMMMMMMMMMMM";

static_assert(kOneByte.size() == 256 && kTwoBytes.size() == 256);

constexpr uint32_t kLongest = 15;

class Decoder {
 public:
  explicit Decoder(Bytes code) : code_(code.first(std::min<size_t>(code.size(), kLongest))) {}

  std::optional<uint32_t> length() {
    char form = opcode();
    if (is_bad_ || form == 'x') return std::nullopt;
    bool has_modrm = form == 'M' || form == 'B' || form == 'Z' || form == 't' || form == 'u';
    uint8_t modrm = has_modrm ? operand() : 0;
    skip(immediate(form, modrm));
    return is_bad_ ? std::nullopt : std::optional(at_);
  }

 private:
  uint8_t next() {
    if (at_ >= code_.size()) {
      is_bad_ = true;
      return 0;
    }
    return static_cast<uint8_t>(code_[at_++]);
  }
  void skip(uint32_t bytes) {
    at_ += bytes;
    if (at_ > code_.size()) is_bad_ = true;
  }

  // Prefixes and opcode; gives the letter of its form.
  char opcode() {
    uint8_t byte = next();
    while (!is_bad_ && kOneByte[byte] == 'p') {
      has_66_ |= byte == 0x66;
      has_67_ |= byte == 0x67;
      byte = next();
    }
    if ((byte & 0xf0) == 0x40) {  // REX stands right before the opcode
      is_wide_ = byte & 8;
      byte = next();
    }
    switch (byte) {
      case 0x0f: return two_byte_opcode();
      case 0xc5: next(); return vector_opcode(1);
      case 0xc4: return after_map(next() & 0x1f, 1);
      case 0x62: return after_map(next() & 0x07, 2);
      case 0x8f: return pop_or_xop();
      default: return kOneByte[byte];
    }
  }

  char two_byte_opcode() {
    uint8_t byte = next();
    if (byte != 0x38 && byte != 0x3a) return kTwoBytes[byte];
    next();
    return byte == 0x38 ? 'M' : 'B';
  }

  // The number of the map is known; some more bytes of the prefix follow.
  char after_map(uint32_t map, uint32_t more) {
    skip(more);
    return vector_opcode(map);
  }

  char vector_opcode(uint32_t map) {
    uint8_t byte = next();
    switch (map) {
      case 1: {
        char form = kTwoBytes[byte];
        bool is_vzero = byte == 0x77;  // the only one without operands
        return form == 'B' || is_vzero ? form : 'M';
      }
      case 2:
      case 5:
      case 6: return 'M';
      case 3: return 'B';
      case 8: return 'B';  // XOP
      case 9: return 'M';
      case 10: return 'Z';
      default: return 'x';
    }
  }

  // 8f is `pop` if what follows looks like its ModRM.
  char pop_or_xop() {
    if (at_ >= code_.size()) return 'x';
    uint32_t map = static_cast<uint8_t>(code_[at_]) & 0x1f;
    if (map < 8) return 'M';
    skip(1);
    return after_map(map, 1);
  }

  // ModRM, SIB and displacement.
  uint8_t operand() {
    uint8_t modrm = next();
    uint32_t mod = modrm >> 6, rm = modrm & 7;
    if (mod == 3) return modrm;
    bool has_sib = rm == 4;
    uint32_t base = has_sib ? next() & 7 : rm;
    if (mod == 1)
      skip(1);
    else if (mod == 2 || base == 5)
      skip(4);
    return modrm;
  }

  uint32_t immediate(char form, uint8_t modrm) const {
    uint32_t full = has_66_ && !is_wide_ ? 2 : 4;
    bool is_test = (modrm >> 3 & 7) < 2;
    switch (form) {
      case 'b':
      case 'B': return 1;
      case 't': return is_test ? 1 : 0;
      case 'w': return 2;
      case 'e': return 3;
      case 'j': return 4;
      case 'z':
      case 'Z': return full;
      case 'u': return is_test ? full : 0;
      case 'v': return is_wide_ ? 8 : full;
      case 'a': return has_67_ ? 4 : 8;
      default: return 0;
    }
  }

  Bytes code_;
  uint32_t at_ = 0;
  bool has_66_ = false, has_67_ = false, is_wide_ = false;
  bool is_bad_ = false;
};

}  // namespace

std::optional<uint32_t> x86_instruction_length(Bytes code) { return Decoder(code).length(); }

std::optional<uint64_t> x86_instruction_start(Bytes code, uint64_t offset) {
  uint64_t at = 0;
  while (at < code.size()) {
    std::optional<uint32_t> length = x86_instruction_length(code.subspan(at));
    if (!length) return std::nullopt;
    if (offset < at + *length) return at;
    at += *length;
  }
  return std::nullopt;
}

}  // namespace flowtap
