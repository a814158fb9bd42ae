// Builtins that look into the probe's context or the current task.

#include "lower/context.h"

#include <linux/bpf.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "builtins/probes.h"
#include "types/layout.h"

namespace flowtap {

// A word of struct pt_regs, the context of kprobes, uprobes and perf events.
ir::Reg ProbeContext::saved_register(int32_t offset) {
  return b().load(ir::at(uses_.frame.ctx(), offset), 8);
}

// Zero for a name that is none: operands of USDT probes may be what nobody can read.
ir::Operand ProbeContext::named_register(const std::string& name) {
  return reg(saved_register(arch().register_offset(name).value_or(0)));
}

Value ProbeContext::lower_context(const Expr& expr, const Builtin& builtin,
                                  const std::vector<ExprPtr>& args, std::string_view name) {
  Type type = type_of(expr);
  const ProbeRow& row = probe_row(instance_.kind);
  switch (builtin.id) {
    case Fn::ArgN: {
      size_t number = static_cast<size_t>(argument_number(name));
      if (row.family == ProbeFamily::Marker)
        return scalar(type, uses_.memory.narrow(usdt_argument(instance_.usdt_args[number]), type));
      return scalar(type, argument(static_cast<int>(number)));
    }
    case Fn::Retval: return scalar(type, uses_.memory.narrow(result(), type));
    case Fn::Usermode: return scalar(type, user_mode());
    case Fn::Register: return scalar(type, named_register(*info(*args[0]).text));
    case Fn::Ctx: return scalar(type, reg(uses_.frame.ctx()));
    case Fn::Args: {
      // The whole record, copied so that it can be printed.
      Address to = uses_.memory.temp(type->size);
      uses_.memory.zero(to, type->size);  // it has gaps
      for (const Field& field : type->fields) {
        if (instance_.program == ProgramType::Kprobe) {
          b().store(to + field.offset, field.type->size, argument_of(field));
          continue;
        }
        Location from{.type = field.type,
                      .space = AddressSpace::Kernel,
                      .address = ir::at(uses_.frame.ctx(), static_cast<int32_t>(field.offset))};
        uses_.memory.read_bytes(to + field.offset, field.is_data_loc ? 4 : field.type->size, from);
      }
      return memory(type, to);
    }
    case Fn::Func:
      return row.has(kUserSpace) ? lower_user_function(type) : lower_kernel_function(type);
    default: UNREACHABLE("a builtin of the context that is not lowered");
  }
}

Value ProbeContext::lower_kernel_function(const Type& type) {
  Address to = uses_.memory.temp(type->size);
  // The helper knows functions by their entry only.
  bool is_inside = std::any_of(instance_.attach.begin(), instance_.attach.end(),
                               [](const AttachPoint& point) { return point.offset != 0; });
  Reg address = is_inside ? saved_register(arch().instruction)
                          : b().call(BPF_FUNC_get_func_ip, {reg(uses_.frame.ctx())});
  b().store(to, 8, reg(address));
  return memory(type, to);
}

// Probes are set on functions by their names, so these are known whatever becomes of the process,
// and the same function of two processes is the same; only an address has to be looked up there.
Value ProbeContext::lower_user_function(const Type& type) {
  Address to = uses_.memory.temp(type->size);
  std::vector<AttachPoint>& points = out_.attach;
  auto has_name = [](const AttachPoint& point) { return !point.function.empty(); };
  if (std::all_of(points.begin(), points.end(), has_name)) {
    for (AttachPoint& point : points)
      point.cookie = static_cast<uint64_t>(image_.add_string(point.function)) + 1;
    uses_.memory.zero(to, type->size);
    b().store(to + kUSymName, 4,
              points.size() == 1
                  ? imm(static_cast<int64_t>(points[0].cookie))
                  : reg(b().call(BPF_FUNC_get_attach_cookie, {reg(uses_.frame.ctx())})));
    return memory(type, to);
  }
  Operand pid = uses_.tasks.lower_pid({}, false);
  b().store(to, 8, instruction_pointer());
  b().store(to + kUSymPid, 8, pid);
  uses_.buffer.note_process(pid);
  return memory(type, to);
}

ir::Operand ProbeContext::user_mode() {
  const UserModeBit& bit = arch().user_mode;
  Reg is_set = b().alu(ir::Alu::And, reg(saved_register(bit.offset)), imm(bit.mask));
  return reg(bit.value ? is_set : b().alu(ir::Alu::Xor, reg(is_set), imm(bit.mask)));
}

ir::Operand ProbeContext::instruction_pointer() { return reg(saved_register(arch().instruction)); }

// With fentry it stands behind the arguments. As a number: scripts of kprobes take it for one.
ir::Operand ProbeContext::result() {
  if (instance_.program != ProgramType::Fexit) return reg(saved_register(arch().result));
  uint64_t offset = 0;  // one that is passed by value may take two words
  for (const Field& parameter : instance_.parameters)
    offset = align_up(parameter.offset + parameter.type->size, 8);
  Operand word = reg(b().load(ir::at(uses_.frame.ctx(), static_cast<int32_t>(offset)), 8));
  bool is_number = probe_row(instance_.kind).program == ProgramType::Kprobe;
  return is_number ? uses_.memory.as_number(word) : word;
}

// Of `args` where it is made of registers: the offset of a field tells its number.
ir::Operand ProbeContext::argument_of(const Field& field) {
  return argument(static_cast<int>(field.offset / 8));
}

// Function arguments: some in registers, the others on the stack.
ir::Operand ProbeContext::argument(int number) {
  if (instance_.program != ProgramType::Kprobe) {
    Operand word = reg(b().load(ir::at(uses_.frame.ctx(), number * 8), 8));
    const Field& parameter = instance_.parameters.at(static_cast<size_t>(number));
    return is(parameter.type, Kind::Pointer) ? uses_.memory.as_number(word) : word;
  }
  int in_registers = static_cast<int>(arch().arguments.size());
  if (number < in_registers)
    return reg(saved_register(arch().arguments[static_cast<size_t>(number)]));
  Reg stack = saved_register(arch().stack_pointer);
  bool is_user = probe_row(instance_.kind).has(kUserSpace);
  Location from{.type = int_type(8, true),
                .space = is_user ? AddressSpace::User : AddressSpace::Kernel,
                .address = ir::at(stack, arch().stack_arguments + (number - in_registers) * 8)};
  return uses_.memory.read_scalar(from);
}

// A USDT argument is where the compiler had left it: a constant, a register, or memory at
// base + index * scale + displacement.
ir::Operand ProbeContext::usdt_argument(const UsdtArgument& arg) {
  switch (arg.where) {
    case UsdtArgument::Where::Constant: return imm(arg.constant);
    case UsdtArgument::Where::Register: return named_register(arg.base);
    case UsdtArgument::Where::Memory: break;
  }
  Operand address = arg.base.empty() ? imm(0) : named_register(arg.base);
  if (!arg.index.empty())
    address = reg(b().alu(ir::Alu::Add,
                          reg(b().alu(ir::Alu::Mul, named_register(arg.index), imm(arg.scale))),
                          address));
  address = reg(b().alu(ir::Alu::Add, address, imm(arg.constant)));
  return uses_.memory.read_scalar({.type = int_type(arg.bytes, arg.is_signed),
                                   .space = AddressSpace::User,
                                   .address = ir::at(b().in_reg(address))});
}

// The verifier allows no arithmetic on a pointer that may be null, so the two cases part here.
// Of a BPF program's pointers, the kernel lets a tracing program load only the context: a helper
// gives the others, as numbers.
ir::Operand ProbeContext::context_word(const Field& field) {
  bool is_of_program = instance_.attach_module.starts_with(kBpfModule);
  if (!is_of_program || !is(field.type, Kind::Pointer))
    return known_pointer(
        reg(b().load(ir::at(uses_.frame.ctx(), static_cast<int32_t>(field.offset)), 8)),
        field.type);
  Address cell = uses_.memory.temp(8);
  b().store(cell, 8, imm(0));
  b().call(BPF_FUNC_get_func_arg,
           {reg(uses_.frame.ctx()), imm(field.offset / 8), reg(b().address_of(cell))});
  return reg(b().load(cell, 8));
}

ir::Operand ProbeContext::known_pointer(Operand value, const Type& type) {
  if (!is(type, Kind::Pointer)) return value;
  Reg result = b().new_reg();
  int32_t is_set = b().new_block(), done = b().new_block();
  b().assign(result, imm(0));
  b().branch(ir::Compare::Ne, value, imm(0), is_set, done);
  b().start(is_set);
  b().assign(result, value);
  b().jump(done);
  b().start(done);
  return reg(result);
}

// Data of any length stands behind a tracepoint's record; its field is a u32 that leads there:
//   | u16 offset | u16 length |   from the start of the record, or from behind the field itself
ir::Reg ProbeContext::data_address(const Field& field) {
  Reg word = b().load(ir::at(uses_.frame.ctx(), static_cast<int32_t>(field.offset)), 4);
  Reg offset = b().alu(ir::Alu::And, reg(word), imm(0xffff));
  Reg address = b().alu(ir::Alu::Add, reg(uses_.frame.ctx()), reg(offset));
  return field.is_rel_loc ? b().alu(ir::Alu::Add, reg(address), imm(field.offset + 4)) : address;
}

}  // namespace flowtap
