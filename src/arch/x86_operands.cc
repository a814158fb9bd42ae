// Reads the argument strings of USDT notes: what gcc would write as operands of an instruction,
// each with the size of the C value, negative for a signed one. Entry point: x86_usdt_arguments().
//
//   arguments := { operand blank }
//   operand := [ size '@' ] ( '$' displacement | register | memory )
//   memory := displacement | [ displacement ] '(' [ register ] [ ',' register [ ',' scale ] ] ')'
//   displacement := term { ( '+' | '-' ) term }
//   term := number | symbol
//   register := '%' name
//
// A symbol is an address in the file, unknown until the program runs; but its distance from the
// probe is fixed, so it is written relative to "rip", which is the probe's address when it fires.

#include "arch/x86_operands.h"

#include "arch/processors.h"
#include "base/text.h"

namespace flowtap {

static constexpr size_t kMostArguments = 64;  // compilers allow 12

// The second bytes (%ah) are left out: they cannot be read by cutting the whole register short.
static std::optional<RegisterPart> find_operand(std::string_view name) {
  std::optional<RegisterPart> found = kX86_64.find_register(name);
  return found && !found->whole->parts[0].empty() ? found : std::nullopt;
}

struct Displacement {
  int64_t value = 0;
  bool has_symbol = false;  // value is an address in the file
};

static std::optional<Displacement> parse_displacement(std::string_view text,
                                                      const UsdtOperandContext& context) {
  Displacement sum;
  while (!text.empty()) {
    bool is_negative = text[0] == '-';
    if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
    size_t end = text.find_first_of("+-");
    std::string_view term = trim(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end);
    std::optional<int64_t> number = parse_number(term);
    if (!number && !is_negative && !term.empty() && context.symbol_address) {
      number = context.symbol_address(term);
      sum.has_symbol = true;
    }
    if (!number) return std::nullopt;
    // Unsigned, since addresses may wrap.
    uint64_t signed_term = is_negative ? -static_cast<uint64_t>(*number) : *number;
    sum.value = static_cast<int64_t>(static_cast<uint64_t>(sum.value) + signed_term);
  }
  return sum;
}

// The text between the parentheses: "%rbx", "%rbx,%rcx,4", ",%rax,8".
static bool parse_base_and_index(std::string_view text, UsdtArgument& argument) {
  std::vector<std::string> parts = split(text, ',');
  if (parts.size() > 3) return false;
  std::string* const names[] = {&argument.base, &argument.index};
  for (size_t i = 0; i < 2 && i < parts.size(); i++) {
    std::string_view part = trim(parts[i]);
    if (part.empty()) continue;
    if (part[0] != '%') return false;
    std::optional<RegisterPart> found = find_operand(part.substr(1));
    if (!found) return false;
    *names[i] = found->whole->parts[0];
  }
  if (parts.size() < 3) return true;
  std::optional<int64_t> scale = parse_number(trim(parts[2]));
  if (scale != 1 && scale != 2 && scale != 4 && scale != 8) return false;
  argument.scale = static_cast<uint32_t>(*scale);
  return true;
}

static bool parse_memory(std::string_view text, const UsdtOperandContext& context,
                         UsdtArgument& argument) {
  argument.where = UsdtArgument::Where::Memory;
  size_t open = text.find('(');
  std::optional<Displacement> displacement = parse_displacement(text.substr(0, open), context);
  if (!displacement) return false;
  argument.constant = displacement->value;
  if (open != text.npos) {
    if (text.back() != ')') return false;
    if (!parse_base_and_index(text.substr(open + 1, text.size() - open - 2), argument))
      return false;
  }
  if (!displacement->has_symbol) return true;
  // "table(,%rax,8)" is absolute as well: what is added to a symbol is its distance from the probe.
  if (!argument.base.empty() && argument.base != "rip") return false;
  argument.base = "rip";
  argument.constant -= static_cast<int64_t>(context.probe_address);
  return true;
}

// Cuts "-4@" off the operand. An 'f' after the number ("8f@%rdx") marks a floating value, which
// is taken as its bits.
static bool take_size(std::string_view& operand, UsdtArgument& argument, bool& has_size) {
  size_t at = operand.find('@');
  has_size = at != operand.npos;
  if (!has_size) return true;
  std::string_view text = operand.substr(0, at);
  operand.remove_prefix(at + 1);
  if (text.ends_with('f')) text.remove_suffix(1);
  std::optional<int64_t> size = parse_number(text);
  if (!size) return false;
  argument.is_signed = *size < 0;
  int64_t bytes = *size < 0 ? -*size : *size;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return false;
  argument.bytes = static_cast<uint32_t>(bytes);
  return true;
}

static bool parse_operand(std::string_view operand, const UsdtOperandContext& context,
                          UsdtArgument& argument) {
  bool has_size = false;
  if (!take_size(operand, argument, has_size) || operand.empty()) return false;
  if (operand[0] == '$') {
    std::optional<Displacement> value = parse_displacement(operand.substr(1), context);
    if (!value || operand.size() == 1) return false;
    argument.constant = value->value;
    return true;
  }
  if (operand[0] != '%') return parse_memory(operand, context, argument);
  std::optional<RegisterPart> found = find_operand(operand.substr(1));
  if (!found) return false;
  argument.where = UsdtArgument::Where::Register;
  argument.base = found->whole->parts[0];
  if (!has_size) argument.bytes = found->bytes;
  return true;
}

// An operand that cannot be read keeps its place, and its text for the message: "xmm0". The text
// must not look like a register that could be read.
static UsdtArgument unreadable(std::string_view operand) {
  std::string_view text = operand.substr(operand.find('@') + 1);  // npos + 1 is 0
  if (text.starts_with('%')) text.remove_prefix(1);
  if (text.empty() || find_operand(text)) text = operand;
  return {.where = UsdtArgument::Where::Register, .base = std::string(text)};
}

// Operands end at a blank, except within parentheses: "8@-8(%rbx, %rcx, 4)".
static std::string_view take_operand(std::string_view& text) {
  int depth = 0;
  size_t end = 0;
  for (; end < text.size() && (depth > 0 || text[end] != ' '); end++) {
    if (text[end] == '(') depth++;
    if (text[end] == ')') depth--;
  }
  std::string_view operand = text.substr(0, end);
  text.remove_prefix(end);
  return operand;
}

std::vector<UsdtArgument> x86_usdt_arguments(std::string_view text,
                                             const UsdtOperandContext& context) {
  std::vector<UsdtArgument> arguments;
  for (text = trim(text); !text.empty() && arguments.size() < kMostArguments; text = trim(text)) {
    std::string_view operand = take_operand(text);
    UsdtArgument argument;
    if (!parse_operand(operand, context, argument)) argument = unreadable(operand);
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace flowtap
