// Addresses of networks; see net_addresses.h.

#include "lower/net_addresses.h"

#include <arpa/inet.h>

#include "base/ip_prefix.h"
#include "types/layout.h"

namespace flowtap {

//   | u32 4 or 16 | u32 0 | 16 bytes |
void NetAddresses::lower_ntop(const std::vector<ExprPtr>& args, Address to) {
  const Expr& address = *args.back();
  Type from = type_of(address);
  uses_.memory.zero(to, kInetSize);
  if (is_integer(from)) {
    b().store(to, 4, imm(4));
    b().store(to + kInetAddress, 4, uses_.expressions.lower_scalar(address));
    return;
  }
  bool has_family = args.size() > 1;
  Operand family = has_family ? uses_.expressions.lower_scalar(*args[0]) : imm(0);
  Location source = uses_.text_reads.bytes_behind(address);
  auto take = [&](uint32_t size) {
    b().store(to, 4, imm(size));
    uses_.memory.read_bytes(to + kInetAddress, size, source);
  };
  if (!has_family || source.type->size == 4) return take(source.type->size);
  int32_t is_short = b().new_block(), is_long = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Eq, family, imm(AF_INET), is_short, is_long);
  b().start(is_short);
  take(4);
  b().jump(done);
  b().start(is_long);
  take(source.type->size);
  b().jump(done);
  b().start(done);
}

// IPv6 sockets that talk IPv4 have it in the last word, behind two of zeros and 0000ffff.
Value NetAddresses::lower_in_prefix(const std::vector<ExprPtr>& args) {
  IpPrefix prefix = *parse_prefix(*info(*args[1]).text);
  Address address = uses_.expressions.lower(*args[0]).address;
  int32_t yes = b().new_block(), no = b().new_block();
  auto demand = [&](uint32_t word, uint32_t mask, uint32_t wanted) {
    if (!mask) return;
    Reg bits = b().load(address + kInetAddress + word * 4, 4);
    if (mask != UINT32_MAX) bits = b().alu(ir::Alu::And, reg(bits), imm(mask));
    int32_t next = b().new_block();
    b().branch(ir::Compare::Eq, reg(bits), imm(wanted), next, no);
    b().start(next);
  };
  int32_t is_long = b().new_block(), is_short = b().new_block();
  b().branch(ir::Compare::Eq, reg(b().load(address, 4)), imm(16), is_long, is_short);
  b().start(is_short);
  if (prefix.words == 1) demand(0, prefix.mask[0], prefix.network[0]);
  b().jump(prefix.words == 1 ? yes : no);
  b().start(is_long);
  if (prefix.words == 1) {
    demand(0, UINT32_MAX, 0);
    demand(1, UINT32_MAX, 0);
    demand(2, UINT32_MAX, htonl(0xffff));
    demand(3, prefix.mask[0], prefix.network[0]);
  } else {
    for (uint32_t i = 0; i < 4; i++) demand(i, prefix.mask[i], prefix.network[i]);
  }
  b().jump(yes);
  return uses_.arithmetic.one_or_zero(yes, no);
}

void NetAddresses::lower_macaddr(const Expr& arg, Address to) {
  uses_.memory.read_bytes(to, kMacSize, uses_.text_reads.bytes_behind(arg));
}

}  // namespace flowtap
