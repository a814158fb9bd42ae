// Maps with large keys. The kernel hashes and compares all bytes of a key at each event, also those
// that a stack or a string does not use. So such a map is keyed by a digest of the bytes in use, of
// 128 bits, and a second map stores the whole key once under the same digest:
//
//   @m:      | u64 a | u64 b |  ->  value
//   keys_m:  | u64 a | u64 b |  ->  the key, as layout.h draws it
//
// Among a million keys the chance that any two have the same digest is less than 1 in 10^26.
//
// A digest in @m has its whole key at all times: a new key is stored before its digest goes into @m
// and again after it, and whoever removes a key removes the whole one first. So whatever the order
// in which CPUs do this, the last step for a digest that stays is to store its key.

#include "lower/large_keys.h"

#include <linux/bpf.h>

#include <cerrno>

#include "types/layout.h"

namespace flowtap {

// Keys up to this size may lie on the stack, where the verifier wants aligned access.
static constexpr uint32_t kMostOnStack = 128;

// The code takes this many bytes in one by one, and then as many in each round of a loop.
static constexpr uint32_t kRound = 64;

// Bytes between two looks at whether a value goes on.
static constexpr uint32_t kLook = 32;

MapKey LargeKeys::digest_key(Address whole, const Type& type) {
  auto start = [&](uint64_t seed) { return b().move(imm(static_cast<int64_t>(seed))); };
  Hash hash{start(image_.options().key_seed[0]), start(image_.options().key_seed[1])};
  hash_value(hash, whole, type, type->size > kMostOnStack);
  Address digest = memory_.temp(kKeyDigestSize);
  b().store(digest, 8, reg(hash.a));
  b().store(digest + 8, 8, reg(hash.b));
  return {digest, whole};
}

// a takes the word in and is mixed; b sums up every a there was, each with a weight of its own.
void LargeKeys::hash_word(const Hash& hash, Reg word) {
  constexpr int64_t kOddA = static_cast<int64_t>(0x9e3779b97f4a7c15);
  constexpr int64_t kOddB = static_cast<int64_t>(0xc2b2ae3d27d4eb4f);
  Reg taken = b().alu(ir::Alu::Xor, reg(hash.a), reg(word));
  Reg mixed = b().alu(ir::Alu::Mul, reg(taken), imm(kOddA));
  Reg high = b().alu(ir::Alu::Shr, reg(mixed), imm(32));
  b().assign(hash.a, reg(b().alu(ir::Alu::Xor, reg(mixed), reg(high))));
  Reg weighted = b().alu(ir::Alu::Mul, reg(hash.b), imm(kOddB));
  b().assign(hash.b, reg(b().alu(ir::Alu::Add, reg(weighted), reg(hash.a))));
}

void LargeKeys::hash_value(const Hash& hash, Address value, const Type& type, bool is_in_scratch) {
  if (is(type, Kind::Tuple) || is(type, Kind::Record)) {
    for (const Field& field : type->fields)
      hash_value(hash, value + field.offset, field.type, is_in_scratch);
    return;
  }
  bool is_stack = is(type, Kind::KStack) || is(type, Kind::UStack);
  if (!is_stack) return hash_bytes(hash, {value, type->size, type, is_in_scratch});
  hash_word(hash, b().load(value, 8));  // how many frames, and whose
  bool by_build_id = type->stack_mode == StackMode::BuildId;
  uint32_t frame = by_build_id ? kBuildIdFrameSize : kStackFrameSize;
  Reg used = b().alu(ir::Alu::Mul, reg(b().load(value, 4)), imm(frame));
  hash_bytes(hash, {value + kStackHeader, type->stack_limit * frame, type, is_in_scratch, used});
}

// Stacks and strings are filled up with zeros: what follows their end may be taken in or not, as
// long as it is the same each time.
void LargeKeys::hash_bytes(const Hash& hash, const HashedBytes& bytes) {
  bool loops = bytes.is_in_scratch && bytes.size > 2 * kRound;
  uint32_t first = loops ? bytes.size % kRound + kRound : bytes.size;
  int32_t done = b().new_block();
  auto take = [&](uint32_t at, uint32_t step) {
    Reg word = b().load(bytes.address + at, step);
    hash_word(hash, word);
    uint32_t next = at + step;
    if (next < bytes.size) leave_at_end(bytes, imm(next), word, step, done);
  };
  if (bytes.is_in_scratch)
    for (uint32_t at = 0, step; at < first; at += step) {
      step = first - at >= 8 ? 8 : 1;
      take(at, step);
    }
  else
    memory_.in_steps({bytes.address}, first, take);
  if (loops) hash_in_loop(hash, bytes, first);
  b().jump(done);
  b().start(done);
}

// Goes to `done` when the value ends before byte `next`, whose last word before that was `word`.
void LargeKeys::leave_at_end(const HashedBytes& bytes, Operand next, Reg word, uint32_t step,
                             int32_t done) {
  int32_t more = b().new_block();
  if (bytes.used != ir::kNoReg) {
    if (next.is_imm() && next.imm % kLook != 0) return;
    b().branch(ir::Compare::Le, reg(bytes.used), next, done, more);
  } else if (is(bytes.type, Kind::String)) {
    Reg last = b().alu(ir::Alu::Shr, reg(word), imm((step - 1) * 8));
    b().branch(ir::Compare::Eq, reg(last), imm(0), done, more);
  } else {
    return;
  }
  b().start(more);
}

// The rest, in rounds that the kernel calls. They find the hash so far, and how many bytes are
// used, on the stack: | a | b | used |
void LargeKeys::hash_in_loop(const Hash& hash, const HashedBytes& bytes, uint32_t first) {
  uint32_t rounds = (bytes.size - first) / kRound;
  Address state = memory_.stack_temp(24);
  b().store(state, 8, reg(hash.a));
  b().store(state + 8, 8, reg(hash.b));
  b().store(state + 16, 8, bytes.used == ir::kNoReg ? imm(0) : reg(bytes.used));
  int32_t function = code_.add_function("_hash", 2, [&] { hash_round(bytes, first, rounds); });
  b().call(BPF_FUNC_loop,
           {imm(rounds), reg(b().callback(function)), reg(b().address_of(state)), imm(0)});
  b().assign(hash.a, reg(b().load(state, 8)));
  b().assign(hash.b, reg(b().load(state + 8, 8)));
}

void LargeKeys::hash_round(const HashedBytes& bytes, uint32_t first, uint32_t rounds) {
  Reg round = b().param(0), context = b().param(1);
  Reg index = b().extend(reg(round), 4, false);
  int32_t inside = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Lt, reg(index), imm(rounds), inside, done);
  b().start(inside);
  HashedBytes rest = bytes;
  if (bytes.used != ir::kNoReg) rest.used = b().load(ir::at(context, 16), 8);
  Hash inner{b().load(ir::at(context), 8), b().load(ir::at(context, 8), 8)};
  Reg offset = b().alu(ir::Alu::Mul, reg(index), imm(kRound));
  Reg from = b().alu(ir::Alu::Add, reg(b().address_of(bytes.address + first)), reg(offset));
  Reg word = ir::kNoReg;
  for (uint32_t at = 0; at < kRound; at += 8) {
    word = b().load(ir::at(from, static_cast<int32_t>(at)), 8);
    hash_word(inner, word);
  }
  b().store(ir::at(context), 8, reg(inner.a));
  b().store(ir::at(context, 8), 8, reg(inner.b));
  Reg next = b().alu(ir::Alu::Add, reg(offset), imm(first + kRound));
  leave_at_end(rest, reg(next), word, 8, done);
  b().ret(imm(0));
  b().start(done);
  b().ret(imm(1));
}

// Goes to `full` with the kernel's answer when there is no room for the key; else goes on.
void LargeKeys::keep_whole_key(MapId number, const MapKey& key, Reg answer, int32_t full) {
  int keys = image_.whole_keys(number);
  if (keys < 0) return;
  Reg result = map_result(
      b().call(BPF_FUNC_map_update_elem, {reg(b().map_pointer(keys)), reg(b().address_of(key.id)),
                                          reg(b().address_of(key.whole)), imm(BPF_NOEXIST)}));
  int32_t is_new = b().new_block(), refused = b().new_block(), kept = b().new_block();
  b().branch(ir::Compare::Eq, reg(result), imm(-EEXIST), kept, is_new);
  b().start(is_new);
  b().branch(ir::Compare::Eq, reg(result), imm(0), kept, refused);
  b().start(refused);
  b().assign(answer, reg(result));
  b().jump(full);
  b().start(kept);
}

void LargeKeys::drop_whole_key(MapId number, const MapKey& key) {
  int keys = image_.whole_keys(number);
  if (keys < 0) return;
  b().call(BPF_FUNC_map_delete_elem, {reg(b().map_pointer(keys)), reg(b().address_of(key.id))});
}

// Where a key that a loop over the map was given lies whole. One that is being removed by another
// CPU has none any more: then the loop goes on with the next.
ir::Address LargeKeys::whole_key(MapId number, Reg key) {
  int keys = image_.whole_keys(number);
  if (keys < 0) return ir::at(key);
  Reg found = b().call(BPF_FUNC_map_lookup_elem, {reg(b().map_pointer(keys)), reg(key)});
  int32_t present = b().new_block(), gone = b().new_block();
  b().branch(ir::Compare::Ne, reg(found), imm(0), present, gone);
  b().start(gone);
  b().ret(imm(0));
  b().start(present);
  return ir::at(found);
}

}  // namespace flowtap
