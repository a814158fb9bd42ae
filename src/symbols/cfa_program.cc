// Runs call frame instructions (DWARF 5, section 6.4) and packs what they say into rules. Way in:
// run_cfa_program(). The full language can describe any machine; compilers use little of it. What
// stands here is where the caller's stack ends (CFA), where the frame pointer was saved, and
// whether there is a caller; the other registers do not matter for finding the callers' addresses.

#include "symbols/cfa_program.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace flowtap {

// --- numbers --------------------------------------------------------------------------------

uint64_t ByteReader::fixed(size_t size) {
  if (failed || size > bytes.size() - std::min(at, bytes.size())) {
    failed = true;
    return 0;
  }
  uint64_t value = static_cast<uint64_t>(load_int(bytes.subspan(at, size), size, false));
  at += size;
  return value;
}

int64_t ByteReader::fixed_signed(size_t size) {
  uint64_t value = fixed(size);
  int shift = static_cast<int>(64 - size * 8);
  return static_cast<int64_t>(value << shift) >> shift;
}

// Compilers may write zeros after the number, but not many.
static constexpr unsigned kMostShift = 7 * 16;

uint64_t ByteReader::uleb() {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    uint64_t part = fixed(1);
    if (shift > kMostShift) failed = true;
    if (failed) return 0;
    if (shift < 64) value |= (part & 0x7f) << shift;
    if ((part & 0x80) == 0) return value;
  }
}

int64_t ByteReader::sleb() {
  uint64_t value = 0;
  for (unsigned shift = 0;;) {
    uint64_t part = fixed(1);
    if (shift > kMostShift) failed = true;
    if (failed) return 0;
    if (shift < 64) value |= (part & 0x7f) << shift;
    shift += 7;
    if (part & 0x80) continue;
    if (shift < 64 && (part & 0x40)) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }
}

Bytes ByteReader::block(uint64_t size) {
  if (failed || at > bytes.size() || size > bytes.size() - at) {
    failed = true;
    return {};
  }
  Bytes part = bytes.subspan(at, size);
  at += size;
  return part;
}

namespace {

// --- state ----------------------------------------------------------------------------------

struct State {
  UnwindKind kind = UnwindKind::None;
  uint64_t cfa_register = 0;  // for Sp, Bp and, of other registers, None
  int64_t cfa_offset = 0;     // in bytes; Plt: the digit
  enum class Bp : uint8_t { Same, Saved, AtItself, Lost } bp = Bp::Same;
  int64_t bp_offset = 0;  // Saved: from the CFA
  enum class Return : uint8_t { BelowCfa, None, Elsewhere } caller = Return::Elsewhere;
};

uint32_t pack(UnwindKind kind, int64_t offset, uint32_t bp) {
  return static_cast<uint32_t>(kind) | bp << kUnwindBpShift |
         static_cast<uint32_t>(offset) << kUnwindOffsetShift;
}

uint32_t rule_of(const State& state) {
  constexpr int64_t kMostOffset = 1 << 19;  // 20 bits with the sign
  constexpr uint32_t kNone = static_cast<uint32_t>(UnwindKind::None);
  if (state.caller == State::Return::None) return pack(UnwindKind::End, 0, 0);
  if (state.kind == UnwindKind::Signal) return pack(UnwindKind::Signal, 0, 0);
  if (state.caller != State::Return::BelowCfa || state.kind == UnwindKind::None) return kNone;
  if (state.kind == UnwindKind::Plt) return pack(UnwindKind::Plt, state.cfa_offset, 0);
  int64_t words = state.cfa_offset / 8;
  if (state.cfa_offset % 8 != 0 || words >= kMostOffset || words < -kMostOffset) return kNone;
  bool is_in_memory = state.kind == UnwindKind::BpMemory;
  if ((state.bp == State::Bp::AtItself) != is_in_memory) return kNone;
  if (is_in_memory) return pack(state.kind, words, 0);
  uint32_t bp = 0;
  if (state.bp == State::Bp::Lost) bp = kUnwindBpLost;
  if (state.bp == State::Bp::Saved) {
    int64_t below = state.bp_offset / -8;
    bool fits = state.bp_offset % 8 == 0 && below > 1 && below <= kMostUnwindBp;
    bp = fits ? static_cast<uint32_t>(below) : kUnwindBpLost;
  }
  return pack(state.kind, words, bp);
}

// --- expressions ----------------------------------------------------------------------------
// Small programs of their own, of which three forms are in use.

constexpr uint8_t kDeref = 0x06, kBreg0 = 0x70;

uint8_t byte_at(Bytes bytes, size_t i) { return std::to_integer<uint8_t>(bytes[i]); }

// The linker's own, for the table of calls into libraries.
std::optional<int64_t> plt_digit(Bytes expression, const UnwindRules& arch) {
  std::span<const uint8_t> form = arch.plt_expression;
  if (form.empty() || expression.size() != form.size()) return std::nullopt;
  for (size_t i = 0; i < form.size(); i++)
    if (i != arch.plt_digit && byte_at(expression, i) != form[i]) return std::nullopt;
  int64_t digit = byte_at(expression, arch.plt_digit) - form[arch.plt_digit];
  return digit >= 0 && digit < 16 ? std::optional(digit) : std::nullopt;
}

struct AtRegister {
  uint64_t reg = 0;
  int64_t offset = 0;
};

// The address `register + offset`; with `is_read` the word there.
std::optional<AtRegister> at_register(Bytes expression, bool is_read) {
  ByteReader in{expression};
  uint64_t op = in.fixed(1);
  if (op < kBreg0 || op >= kBreg0 + 32) return std::nullopt;
  AtRegister found{op - kBreg0, in.sleb()};
  if (is_read && in.fixed(1) != kDeref) return std::nullopt;
  if (in.failed || in.at != expression.size()) return std::nullopt;
  return found;
}

// --- instructions ---------------------------------------------------------------------------

class Machine {
 public:
  using Visit = std::function<void(uint64_t, uint32_t)>;
  Machine(const CfaFrame& frame, CfaRange range, const Visit& visit)
      : frame_(frame), arch_(*frame.arch), range_(range), visit_(visit), address_(range.begin) {
    state_.cfa_register = arch_.stack_pointer;
  }

  void run(Bytes program) {
    if (!execute(frame_.initial)) return fail();
    initial_ = state_;
    if (!execute(program)) return fail();
    if (address_ < range_.end) visit_(address_, rule_of(state_));
  }

 private:
  void fail() {
    if (address_ < range_.end) visit_(address_, static_cast<uint32_t>(UnwindKind::None));
  }

  bool execute(Bytes program) {
    ByteReader in{program};
    while (!in.is_at_end())
      if (!step(in) || in.failed) return false;
    return true;
  }

  // From here on the state may be another. No further back, and not beyond the function.
  bool advance_to(uint64_t address) {
    if (address < address_ || address > range_.end) return false;
    if (address > address_) visit_(address_, rule_of(state_));
    address_ = address;
    return true;
  }

  bool advance_by(uint64_t steps) {
    uint64_t most = (range_.end - address_) / std::max<uint64_t>(frame_.code_step, 1);
    return steps <= most && advance_to(address_ + steps * frame_.code_step);
  }

  int64_t scaled(int64_t factor) const {
    int64_t product = 0;
    return __builtin_mul_overflow(factor, frame_.data_step, &product) ? INT64_MAX : product;
  }

  void set_cfa(uint64_t reg, int64_t offset) {
    state_.cfa_register = reg;
    state_.cfa_offset = offset;
    state_.kind = reg == arch_.stack_pointer   ? UnwindKind::Sp
                  : reg == arch_.frame_pointer ? UnwindKind::Bp
                                               : UnwindKind::None;
  }

  void set_cfa_expression(Bytes expression) {
    state_.kind = UnwindKind::None;
    if (std::optional<int64_t> digit = plt_digit(expression, arch_)) {
      state_.kind = UnwindKind::Plt;
      state_.cfa_offset = *digit;
      return;
    }
    std::optional<AtRegister> at = at_register(expression, true);
    if (!at) return;
    state_.cfa_offset = at->offset;
    bool is_interrupted_sp =
        at->reg == arch_.stack_pointer && at->offset == arch_.signal_stack_pointer;
    if (frame_.is_signal && is_interrupted_sp)
      state_.kind = UnwindKind::Signal;
    else if (at->reg == arch_.frame_pointer)
      state_.kind = UnwindKind::BpMemory;
  }

  void saved(uint64_t reg, int64_t offset) {
    if (reg == arch_.frame_pointer) {
      state_.bp = State::Bp::Saved;
      state_.bp_offset = offset;
    } else if (reg == frame_.return_register) {
      state_.caller =
          offset == arch_.return_address ? State::Return::BelowCfa : State::Return::Elsewhere;
    }
  }

  void saved_at(uint64_t reg, Bytes expression) {
    if (reg == frame_.return_register) state_.caller = State::Return::Elsewhere;
    if (reg != arch_.frame_pointer) return;
    std::optional<AtRegister> at = at_register(expression, false);
    bool is_itself = at && at->reg == arch_.frame_pointer && at->offset == 0;
    state_.bp = is_itself ? State::Bp::AtItself : State::Bp::Lost;
  }

  void lost(uint64_t reg, State::Return caller) {
    if (reg == arch_.frame_pointer) state_.bp = State::Bp::Lost;
    if (reg == frame_.return_register) state_.caller = caller;
  }

  void restored(uint64_t reg) {
    if (reg == arch_.frame_pointer) {
      state_.bp = initial_.bp;
      state_.bp_offset = initial_.bp_offset;
    } else if (reg == frame_.return_register) {
      state_.caller = initial_.caller;
    }
  }

  bool step(ByteReader& in) {
    uint8_t op = static_cast<uint8_t>(in.fixed(1));
    uint8_t low = op & 0x3f;
    switch (op >> 6) {
      case 1: return advance_by(low);
      case 2: saved(low, scaled(static_cast<int64_t>(in.uleb()))); return true;
      case 3: restored(low); return true;
      default: return step_long(low, in);
    }
  }

  bool step_long(uint8_t op, ByteReader& in) {
    constexpr size_t kMostRemembered = 64;
    switch (op) {
      case 0x00: return true;  // nop
      case 0x02: return advance_by(in.fixed(1));
      case 0x03: return advance_by(in.fixed(2));
      case 0x04: return advance_by(in.fixed(4));
      case 0x0a:  // remember_state
        if (remembered_.size() >= kMostRemembered) return false;
        remembered_.push_back(state_);
        return true;
      case 0x0b:  // restore_state
        if (remembered_.empty()) return false;
        state_ = remembered_.back();
        remembered_.pop_back();
        return true;
      case 0x0d: set_cfa(in.uleb(), state_.cfa_offset); return true;
      case 0x0e: set_cfa(state_.cfa_register, static_cast<int64_t>(in.uleb())); return true;
      case 0x0f: set_cfa_expression(in.block(in.uleb())); return true;
      case 0x13: set_cfa(state_.cfa_register, scaled(in.sleb())); return true;
      case 0x2e: in.uleb(); return true;  // size of arguments on the stack
      default: return step_register(op, in);
    }
  }

  // Those whose first operand is a register.
  bool step_register(uint8_t op, ByteReader& in) {
    uint64_t reg = in.uleb();
    switch (op) {
      case 0x05: saved(reg, scaled(static_cast<int64_t>(in.uleb()))); return true;
      case 0x06: restored(reg); return true;
      case 0x07: lost(reg, State::Return::None); return true;  // undefined
      case 0x08:                                               // same value
        if (reg == arch_.frame_pointer) state_.bp = State::Bp::Same;
        return true;
      case 0x09:  // in another register
        in.uleb();
        lost(reg, State::Return::Elsewhere);
        return true;
      case 0x0c: set_cfa(reg, static_cast<int64_t>(in.uleb())); return true;
      case 0x10: saved_at(reg, in.block(in.uleb())); return true;
      case 0x11: saved(reg, scaled(in.sleb())); return true;
      case 0x12: set_cfa(reg, scaled(in.sleb())); return true;
      case 0x14:
      case 0x15:  // the value is CFA + offset
        in.uleb();
        lost(reg, State::Return::Elsewhere);
        return true;
      case 0x16:
        in.block(in.uleb());
        lost(reg, State::Return::Elsewhere);
        return true;
      default: return false;
    }
  }

  const CfaFrame& frame_;
  const UnwindRules& arch_;
  CfaRange range_;
  const Visit& visit_;
  uint64_t address_;
  State state_, initial_;
  std::vector<State> remembered_;
};

}  // namespace

void run_cfa_program(const CfaFrame& frame, CfaRange range, Bytes program,
                     const std::function<void(uint64_t, uint32_t)>& visit) {
  if (range.begin < range.end) Machine(frame, range, visit).run(program);
}

}  // namespace flowtap
