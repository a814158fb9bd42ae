// The body of the loop that unwinds user stacks. Way in: write_unwind_round().
//
// A search among the mappings of the process finds the table that has the address, a search in the
// table the row, and its rule says where the caller's frame lies and its frame pointer
// (types/unwind.h has the bytes). Searches are straight code with few branches, so that the
// verifier has little to look at.

#include "lower/unwind_round.h"

#include <linux/bpf.h>

#include <functional>

namespace flowtap {
namespace {

using namespace unwind_state;
using ir::Alu;
using ir::Compare;
using ir::imm_operand;
using ir::Operand;
using ir::Reg;
using ir::reg_operand;

// Sorted entries of 1 << shift bytes, whose first bytes are the number they are sorted by.
struct Sorted {
  Reg base;
  uint32_t entries;  // at `base`; a power of two
  uint32_t shift;
  uint32_t number_size;
  Reg first, count;  // those to search
};

Reg entry_at(ir::Builder& b, const Sorted& in, Reg position) {
  Reg index =
      b.alu(Alu::And, reg_operand(b.alu(Alu::Add, reg_operand(in.first), reg_operand(position))),
            imm_operand(in.entries - 1));
  Reg offset = b.alu(Alu::Shl, reg_operand(index), imm_operand(in.shift));
  return b.alu(Alu::Add, reg_operand(in.base), reg_operand(offset));
}

// Steps by which few entries cannot be passed are left out, some at a time.
constexpr uint32_t kStepsLeftOut = 4;

// The place, among those to search, of the last entry whose number is not above `wanted`, or of the
// first entry. Whether a step is taken is the common sign of two differences. (Made a mask by an
// arithmetic shift, it would let Linux 6.18 look at both ways of each step.)
Reg search(ir::Builder& b, const Sorted& in, Reg wanted, uint32_t steps) {
  Reg position = b.move(imm_operand(0));
  int32_t next = -1;
  for (uint32_t bit = steps; bit-- > 0;) {
    bool begins_group = bit + 1 == steps || (bit + 1) % kStepsLeftOut == 0;
    if (next >= 0 && begins_group) {
      b.jump(next);
      b.start(next);
      next = -1;
    }
    if (begins_group && bit >= kStepsLeftOut) {
      int32_t needed = b.new_block();
      next = b.new_block();
      int64_t few = int64_t{1} << (bit / kStepsLeftOut * kStepsLeftOut);
      b.branch(Compare::Gt, reg_operand(in.count), imm_operand(few), needed, next);
      b.start(needed);
    }
    Reg middle = b.alu(Alu::Add, reg_operand(position), imm_operand(1 << bit));
    Reg number = b.load(ir::at(entry_at(b, in, middle)), in.number_size);
    Reg inside = b.alu(Alu::Sub, reg_operand(middle), reg_operand(in.count));
    Reg below = b.alu(Alu::Sub, reg_operand(number), reg_operand(wanted));
    below = b.alu(Alu::Sub, reg_operand(below), imm_operand(1));
    Reg sign = b.alu(Alu::And, reg_operand(inside), reg_operand(below));
    Reg taken = b.alu(Alu::Shr, reg_operand(sign), imm_operand(63));
    taken = b.alu(Alu::Shl, reg_operand(taken), imm_operand(bit));
    b.assign(position, reg_operand(b.alu(Alu::Add, reg_operand(position), reg_operand(taken))));
  }
  return position;
}

class RoundWriter {
 public:
  RoundWriter(ir::Builder& builder, const UnwindRound& round)
      : b_(builder),
        in_(round),
        stop_(b_.new_block()),
        cut_(b_.new_block()),
        unmapped_(b_.new_block()) {}

  void run() {
    note_frame(b_.param(0));
    Reg address = alu(Alu::Sub, get(kIp), get(kBack));
    Reg mapping = find_mapping(address);
    Reg rule = find_rule(address, mapping);
    Frame frame = find_frame(address, rule);
    go_to_caller(frame);
    leave(unmapped_, UnwindOutcome::Unmapped);
    leave(cut_, UnwindOutcome::Cut);
    b_.start(stop_);
    b_.ret(imm_operand(1));
  }

 private:
  // The CFA, and how many words below it are of interest: the first is the caller's frame pointer,
  // if it was saved, and the last the return address.
  struct Frame {
    Reg cfa, words;
  };

  Reg get(int32_t at) { return b_.load(in_.state + at, 8); }
  void set(int32_t at, Reg value) { b_.store(in_.state + at, 8, reg_operand(value)); }
  void set_to(int32_t at, int64_t value) { b_.store(in_.state + at, 8, imm_operand(value)); }
  Reg alu(Alu op, Reg a, Reg b) { return b_.alu(op, reg_operand(a), reg_operand(b)); }
  Reg alu_imm(Alu op, Reg a, int64_t b) { return b_.alu(op, reg_operand(a), imm_operand(b)); }

  // Goes on where `a` and `b` compare so, and else with the block `otherwise`.
  void require(Compare compare, Reg a, Operand b, int32_t otherwise) {
    int32_t good = b_.new_block();
    b_.branch(compare, reg_operand(a), b, good, otherwise);
    b_.start(good);
  }

  void leave(int32_t block, UnwindOutcome outcome) {
    b_.start(block);
    set_to(kOutcome, static_cast<int64_t>(outcome));
    b_.ret(imm_operand(1));
  }

  void note_frame(Reg round) {
    Reg frame = b_.extend(reg_operand(round), 4, false);
    require(Compare::Lt, frame, imm_operand(in_.limit), stop_);
    Reg place = alu(Alu::Add, b_.address_of(in_.frames), alu_imm(Alu::Shl, frame, 3));
    b_.store(ir::at(place), 8, reg_operand(get(kIp)));
    set(kFrames, alu_imm(Alu::Add, frame, 1));
  }

  // Often that of the last frame.
  Reg find_mapping(Reg address) {
    Sorted mappings{.base = b_.map_value(in_.maps.mappings),
                    .entries = kUnwindMappings,
                    .shift = 5,
                    .number_size = 8,
                    .first = get(kFirst),
                    .count = get(kMappings)};
    static_assert(kUnwindMappingSize == 1 << 5);
    Reg mapping = b_.move(reg_operand(entry_at(b_, mappings, get(kPlace))));
    int32_t other = b_.new_block(), found = b_.new_block();
    auto check_range = [&](int32_t outside) {
      require(Compare::Ge, address, reg_operand(b_.load(ir::at(mapping), 8)), outside);
      require(Compare::Lt, address, reg_operand(b_.load(ir::at(mapping, kUnwindEnd), 8)), outside);
      b_.jump(found);
    };
    check_range(other);
    b_.start(other);
    Reg place = search(b_, mappings, address, kUnwindMappingSteps);
    set(kPlace, place);
    b_.assign(mapping, reg_operand(entry_at(b_, mappings, place)));
    check_range(unmapped_);
    b_.start(found);
    return mapping;
  }

  Reg find_rule(Reg address, Reg mapping) {
    static_assert(kUnwindBankRows == 1 << 16 && kUnwindRowSize == 1 << 3);
    Reg in_file = alu(Alu::Sub, address, b_.load(ir::at(mapping, kUnwindBias), 8));
    Reg first = b_.load(ir::at(mapping, kUnwindFirst), 4);
    Reg count = b_.load(ir::at(mapping, kUnwindRows), 4);
    Operand key = reg_operand(b_.address_of(in_.state + kKey));
    set(kKey, alu_imm(Alu::Shr, first, 16));
    Reg bank =
        b_.call(BPF_FUNC_map_lookup_elem, {reg_operand(b_.map_pointer(in_.maps.banks)), key});
    require(Compare::Ne, bank, imm_operand(0), unmapped_);
    set_to(kKey, 0);
    Reg rows = b_.call(BPF_FUNC_map_lookup_elem, {reg_operand(bank), key});
    require(Compare::Ne, rows, imm_operand(0), unmapped_);
    Sorted table{.base = rows,
                 .entries = kUnwindBankRows,
                 .shift = 3,
                 .number_size = 4,
                 .first = first,
                 .count = count};
    Reg row = entry_at(b_, table, search(b_, table, in_file, kUnwindBankSteps));
    require(Compare::Le, b_.load(ir::at(row), 4), reg_operand(in_file), cut_);
    return b_.load(ir::at(row, 4), 4);
  }

  // Reads from the process to the state, where `words` are.
  void read(Operand size, Reg from) {
    Operand to = reg_operand(b_.address_of(in_.state + kWords));
    Reg result = b_.call(BPF_FUNC_probe_read_user, {to, size, reg_operand(from)});
    require(Compare::SGe, result, imm_operand(0), cut_);
  }

  Reg read_word(Reg from, int64_t add) {
    read(imm_operand(8), alu_imm(Alu::Add, from, add));
    return get(kWords);
  }

  Frame find_frame(Reg address, Reg rule) {
    Reg kind = alu_imm(Alu::And, rule, kUnwindKindMask);
    Reg extended = b_.extend(reg_operand(rule), 4, true);
    Reg offset = alu_imm(Alu::Shl, alu_imm(Alu::Sar, extended, kUnwindOffsetShift), 3);
    Reg sp = get(kSp), bp = get(kBp);
    Frame frame{b_.new_reg(), b_.new_reg()};
    int32_t has_cfa = b_.new_block(), has_frame = b_.new_block();
    auto when = [&](UnwindKind wanted, const std::function<void()>& then) {
      int32_t yes = b_.new_block(), no = b_.new_block();
      b_.branch(Compare::Eq, reg_operand(kind), imm_operand(static_cast<int64_t>(wanted)), yes, no);
      b_.start(yes);
      then();
      b_.start(no);
    };
    auto cfa_is = [&](Reg cfa, int32_t next) {
      b_.assign(frame.cfa, reg_operand(cfa));
      b_.jump(next);
    };
    when(UnwindKind::Sp, [&] { cfa_is(alu(Alu::Add, sp, offset), has_cfa); });
    when(UnwindKind::Bp, [&] { cfa_is(alu(Alu::Add, bp, offset), has_cfa); });
    when(UnwindKind::End, [&] { b_.jump(stop_); });
    when(UnwindKind::Plt, [&] {
      Reg digit = alu_imm(Alu::Shl, alu_imm(Alu::And, address, 15), 3);
      Reg before = alu_imm(Alu::Shr, alu(Alu::Sub, digit, offset), 63);
      Reg pushed = alu_imm(Alu::Shl, alu_imm(Alu::Xor, before, 1), 3);
      cfa_is(alu(Alu::Add, alu_imm(Alu::Add, sp, 8), pushed), has_cfa);
    });
    when(UnwindKind::BpMemory, [&] {
      Reg cfa = read_word(alu(Alu::Add, bp, offset), 0);
      set(kBp, read_word(bp, 0));
      b_.assign(frame.words, imm_operand(1));
      cfa_is(cfa, has_frame);
    });
    when(UnwindKind::Signal, [&] { return_from_signal(sp); });
    b_.jump(cut_);
    b_.start(has_cfa);
    find_saved_bp(rule, frame.words, has_frame);
    b_.start(has_frame);
    // Stacks grow downwards: a caller's frame lies above.
    require(Compare::Gt, frame.cfa, reg_operand(sp), cut_);
    return frame;
  }

  void return_from_signal(Reg sp) {
    set(kIp, read_word(sp, in_.rules.signal_instruction));
    set(kBp, read_word(sp, in_.rules.signal_frame_pointer));
    set(kSp, read_word(sp, in_.rules.signal_stack_pointer));
    set_to(kBack, 0);
    b_.ret(imm_operand(0));
  }

  void find_saved_bp(Reg rule, Reg words, int32_t next) {
    Reg below = alu_imm(Alu::And, alu_imm(Alu::Shr, rule, kUnwindBpShift), kUnwindBpMask);
    int32_t kept = b_.new_block(), lost = b_.new_block();
    require(Compare::Ne, below, imm_operand(0), kept);
    require(Compare::Ne, below, imm_operand(kUnwindBpLost), lost);
    b_.assign(words, reg_operand(below));
    b_.jump(next);
    b_.start(lost);
    set_to(kBp, 0);
    b_.jump(kept);
    b_.start(kept);
    b_.assign(words, imm_operand(1));
    b_.jump(next);
  }

  void go_to_caller(const Frame& frame) {
    Reg size = alu_imm(Alu::Shl, alu_imm(Alu::And, frame.words, kMostWords - 1), 3);
    read(reg_operand(size), alu(Alu::Sub, frame.cfa, size));
    Reg last = alu_imm(Alu::And, alu_imm(Alu::Sub, frame.words, 1), kMostWords - 1);
    Reg words = b_.address_of(in_.state + kWords);
    Reg caller = b_.load(ir::at(alu(Alu::Add, words, alu_imm(Alu::Shl, last, 3))), 8);
    set(kIp, caller);
    set(kSp, frame.cfa);
    set_to(kBack, 1);
    int32_t no_bp = b_.new_block();
    require(Compare::Gt, frame.words, imm_operand(1), no_bp);
    set(kBp, get(kWords));
    b_.jump(no_bp);
    b_.start(no_bp);
    require(Compare::Ne, caller, imm_operand(0), stop_);
    b_.ret(imm_operand(0));
  }

  ir::Builder& b_;
  const UnwindRound& in_;
  int32_t stop_, cut_, unmapped_;
};

}  // namespace

int32_t write_unwind_round(ir::Program& program, const ir::Builder& parent,
                           const UnwindRound& round) {
  int32_t number = static_cast<int32_t>(program.functions.size());
  program.functions.push_back({.name = program.name + "_unwind" + std::to_string(number),
                               .params = 2,
                               .parent = parent.function()});
  ir::Builder builder(program, number);
  builder.set_span(parent.span());
  RoundWriter(builder, round).run();
  builder.finish();
  return number;
}

}  // namespace flowtap
