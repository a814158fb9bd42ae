// Builtins that reach kernel objects or the traced program by special means; what each needs of
// the machine, the checker has made sure of (sema/infer_kernel.cc).

#include "lower/kernel_objects.h"

#include <linux/bpf.h>

#include <algorithm>

#include "base/bytes.h"
#include "types/layout.h"

namespace flowtap {

Value KernelObjects::lower_container_of(const Expr& expr, const std::vector<ExprPtr>& args) {
  Type type = type_of(expr);
  Type container = type->element;
  int64_t offset = 0;
  for (const std::string& name : member_path(*args[2])) {
    if (is(container, Kind::Struct)) container = image_.types().complete(container);
    const Field* field = find_field(container, name);
    offset += field->offset;
    container = field->type;
  }
  return scalar(type,
                reg(b().alu(ir::Alu::Sub, uses_.expressions.lower_scalar(*args[0]), imm(offset))));
}

void KernelObjects::lower_config(Address to, const Type& type) {
  uses_.memory.zero(to, type->size);
  for (const std::string& key : config_keys()) {
    ConfigValue value = *config_value(image_.checked().config, key);
    const Field* field = find_field(type, key);
    if (!field) continue;
    if (value.number)
      b().store(to + field->offset, field->type->size, imm(*value.number));
    else
      uses_.memory.store_text(to + field->offset, field->type->size, value.text);
  }
}

// The helper takes only pointers whose type the kernel knows, and none that may be null.
void KernelObjects::lower_path(const Expr& expr, const Expr& arg, Address to, const Type& type) {
  uint32_t size = std::min(type->size, info(expr).type->size);
  Address path;
  if (is(type_of(arg), Kind::Pointer)) {
    path = ir::at(b().in_reg(uses_.expressions.lower_scalar(arg)));
  } else {
    std::optional<Location> location = uses_.locations.location_of(arg);
    CHECK(location.has_value());
    path = location->address;
  }
  uses_.memory.zero(to, type->size);
  int32_t is_set = b().new_block(), done = b().new_block();
  b().branch(ir::Compare::Ne, reg(path.base), imm(0), is_set, done);
  b().start(is_set);
  Reg result =
      b().call(BPF_FUNC_d_path, {reg(b().address_of(path)), reg(b().address_of(to)), imm(size)});
  uses_.memory.check_read(result, BPF_FUNC_d_path);
  b().jump(done);
  b().start(done);
}

// A per-CPU variable lies at its symbol plus the CPU's entry in __per_cpu_offset.
Value KernelObjects::lower_percpu_kaddr(const Expr& expr, const std::vector<ExprPtr>& args) {
  Type type = type_of(expr);
  const Target& target = image_.target();
  int64_t base = static_cast<int64_t>(*target.kernel_symbol(*info(*args[0]).text));
  int64_t table = static_cast<int64_t>(*target.kernel_symbol("__per_cpu_offset"));
  Operand cpu = args.size() > 1 ? uses_.expressions.lower_scalar(*args[1])
                                : reg(b().call(BPF_FUNC_get_smp_processor_id, {}));
  Reg result = b().new_reg();
  int32_t known = b().new_block(), done = b().new_block();
  b().assign(result, imm(0));
  b().branch(ir::Compare::Lt, cpu, imm(image_.cpus()), known, done);
  b().start(known);
  Reg entry = b().alu(ir::Alu::Add, reg(b().alu(ir::Alu::Shl, cpu, imm(3))), imm(table));
  Operand offset = uses_.memory.read_scalar(
      {.type = int_type(8, false), .space = AddressSpace::Kernel, .address = ir::at(entry)});
  b().assign(result, reg(b().alu(ir::Alu::Add, offset, imm(base))));
  b().jump(done);
  b().start(done);
  return scalar(type, reg(result));
}

// The distance from the probed instruction is the same in memory as in the file.
Value KernelObjects::lower_uaddr(const Expr& expr, const Expr& arg) {
  const AttachPoint& point = instance_.attach[0];
  const Target& target = image_.target();
  uint64_t symbol = target.user_object(point.target, *info(arg).text)->address;
  uint64_t probed = *target.user_address(point.target, point.file_offset);
  return scalar(type_of(expr), reg(b().alu(ir::Alu::Add, uses_.context.instruction_pointer(),
                                           imm(static_cast<int64_t>(symbol - probed)))));
}

// Written when somebody first asks for it through the socket or a helper; 0 until then.
Value KernelObjects::lower_socket_cookie(const Expr& expr, const Expr& arg) {
  Location cookie = uses_.memory.kernel_field(reg(b().in_reg(uses_.expressions.lower_scalar(arg))),
                                              "struct sock", {"__sk_common", "skc_cookie"});
  cookie.type = type_of(expr);
  return scalar(cookie.type, uses_.memory.read_scalar(cookie));
}

// A record with the time, the packet's own length and the bytes that lie in one piece:
//   | header | u64 ns | u64 length of the packet | u32 bytes | bytes ... |
Value KernelObjects::lower_skboutput(const Expr& expr, const std::vector<ExprPtr>& args) {
  constexpr int64_t kUsualRoom = 2048, kMostRoom = 16384;
  Reg skb = b().in_reg(uses_.expressions.lower_scalar(*args[1]));
  Reg wanted = b().in_reg(uses_.expressions.lower_scalar(*args[2])),
      skip = b().in_reg(uses_.expressions.lower_scalar(*args[3]));
  auto field = [&](const char* name) {
    return uses_.memory.read_scalar(uses_.memory.kernel_field(reg(skb), "struct sk_buff", {name}));
  };
  Operand whole = field("len");
  Reg linear = b().alu(ir::Alu::Sub, whole, field("data_len"));
  Reg here = b().alu(ir::Alu::Sub, reg(linear), reg(skip));
  Reg from = b().alu(ir::Alu::Add, field("data"), reg(skip));

  int64_t room = std::clamp<int64_t>(info(*args[2]).value.value_or(kUsualRoom), 1, kMostRoom);
  Type bytes = buffer_type(static_cast<uint32_t>(room));
  Event event{.kind = EventKind::SkbOutput, .span = expr.span, .text = *info(*args[0]).text};
  Type word = int_type(8, false);
  event.args = {{.name = {}, .type = word, .offset = kRecordHeader},
                {.name = {}, .type = word, .offset = kRecordHeader + 8},
                {.name = {}, .type = bytes, .offset = kRecordHeader + 16}};
  event.size = static_cast<uint32_t>(align_up(kRecordHeader + 16 + bytes->size, 8));
  uint32_t size = event.size;
  EventId number = image_.add_event(std::move(event));

  // min(wanted, here, room), and an error when nothing is left.
  b().set_span(expr.span);
  Reg length = b().new_reg(), result = b().new_reg();
  int32_t shorter = b().new_block(), whole_rest = b().new_block(), both = b().new_block(),
          cut = b().new_block(), sized = b().new_block(), send = b().new_block(),
          fill = b().new_block(), lost = b().new_block(), done = b().new_block();
  b().assign(result, imm(-EINVAL));
  b().branch(ir::Compare::SLt, reg(wanted), reg(here), shorter, whole_rest);
  b().start(shorter);
  b().assign(length, reg(wanted));
  b().jump(both);
  b().start(whole_rest);
  b().assign(length, reg(here));
  b().jump(both);
  b().start(both);
  b().branch(ir::Compare::SGt, reg(length), imm(room), cut, sized);
  b().start(cut);
  b().assign(length, imm(room));
  b().jump(send);
  b().start(sized);
  b().branch(ir::Compare::SLe, reg(length), imm(0), done, send);
  b().start(send);
  Reg now = b().call(BPF_FUNC_ktime_get_boot_ns, {});
  Reg record = uses_.buffer.reserve(size);
  b().branch(ir::Compare::Eq, reg(record), imm(0), lost, fill);
  b().start(lost);
  note_site(SiteKind::RingbufFull, "events", imm(0));
  b().assign(result, imm(-ENOSPC));
  b().jump(done);
  b().start(fill);
  b().store(ir::at(record), 8, imm(static_cast<int64_t>(number.index())));
  b().store(ir::at(record, kRecordHeader), 8, reg(now));
  b().store(ir::at(record, kRecordHeader + 8), 8, whole);
  b().store(ir::at(record, kRecordHeader + 16), 4, reg(length));
  Address to = ir::at(record, kRecordHeader + 16 + kBufferHeader);
  b().assign(result, reg(b().call(BPF_FUNC_probe_read_kernel,
                                  {reg(b().address_of(to)), reg(length), reg(from)})));
  b().call(BPF_FUNC_ringbuf_submit, {reg(record), imm(0)});
  b().jump(done);
  b().start(done);
  return scalar(type_of(expr), reg(result));
}

Value KernelObjects::lower_write_user(const std::vector<ExprPtr>& args) {
  uint32_t size = static_cast<uint32_t>(*info(*args[2]).value);
  Operand to = uses_.expressions.lower_scalar(*args[0]);
  Address from = uses_.strings.bytes_of(*args[1], size);
  Reg result = b().call(BPF_FUNC_probe_write_user, {to, reg(b().address_of(from)), imm(size)});
  Reg negative = b().alu(ir::Alu::Shr, reg(result), imm(63));
  return scalar(bool_type(), reg(b().alu(ir::Alu::Xor, reg(negative), imm(1))));
}

}  // namespace flowtap
