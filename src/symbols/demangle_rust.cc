// Rust names. Ways in: clean_rust_legacy() for the older scheme, demangle_rust_v0() for the newer,
// which is a grammar of its own (Rust RFC 2603), here with the letters that lead each form:
//
//   symbol  := "_R" path [ path of the instantiating crate ]
//   path    := C ident                     crate root
//            | N letter path ident         item in a path
//            | I path { generic } E        instance of a generic item
//            | M implpath type             <T>
//            | X implpath type path        <T as Trait>, in an impl
//            | Y type path                 <T as Trait>
//            | B number                    what stands at this position of the symbol
//   generic := L number | K const | type
//   ident   := [ s number ] [ u ] decimal [ _ ] bytes
//   number  := { 0-9 a-z A-Z } _           base 62; "_" is 0, "0_" is 1
//
// Function pointers and trait objects are printed as "fn" and "dyn"; a symbol that holds constants
// of unknown shape, or letters not listed, is given up.

#include "symbols/demangle_rust.h"

#include <cctype>
#include <cstdint>

namespace flowtap {

// --- older scheme ---------------------------------------------------------------------------

static constexpr size_t kHashLength = 19;  // "::h" and 16 digits

bool is_rust_legacy(std::string_view demangled) {
  if (demangled.size() <= kHashLength) return false;
  std::string_view hash = demangled.substr(demangled.size() - kHashLength);
  return hash.starts_with("::h") &&
         hash.substr(3).find_first_not_of("0123456789abcdef") == hash.npos;
}

std::string clean_rust_legacy(std::string_view demangled) {
  static constexpr std::string_view kSpellings[][2] = {
      {"$LT$", "<"},  {"$GT$", ">"},   {"$RF$", "&"},  {"$BP$", "*"},  {"$LP$", "("},
      {"$RP$", ")"},  {"$C$", ","},    {"$SP$", "@"},  {"$u20$", " "}, {"$u27$", "'"},
      {"$u5b$", "["}, {"$u5d$", "]"},  {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u7e$", "~"},
      {"$u2b$", "+"}, {"$u22$", "\""}, {"_$LT$", "<"}, {"..", "::"},
  };
  demangled.remove_suffix(kHashLength);
  std::string out;
  while (!demangled.empty()) {
    std::string_view from = demangled.substr(0, 1), to = from;
    for (const auto& spelling : kSpellings)
      if (demangled.starts_with(spelling[0])) from = spelling[0], to = spelling[1];
    out += to;
    demangled.remove_prefix(from.size());
  }
  return out;
}

// --- newer scheme ---------------------------------------------------------------------------

namespace {

// Every method consumes what it prints; failed_ stays true once anything was wrong.
class RustReader {
 public:
  explicit RustReader(std::string_view text) : text_(text) {}

  std::string path();
  bool failed() const { return failed_; }

 private:
  // Names nest without limit, and B may double them at every level.
  static constexpr int kDeepest = 200;
  static constexpr int kMostParts = 2000;

  void enter() {
    if (++depth_ > kDeepest || ++parts_ > kMostParts) failed_ = true;
  }

  char next() {
    if (at_ < text_.size()) return text_[at_++];
    failed_ = true;
    return '\0';
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    at_++;
    return true;
  }
  std::string give_up() {
    failed_ = true;
    return {};
  }
  uint64_t number();
  std::string identifier();
  std::string nested_path();
  std::string instance();
  std::string generic();
  std::string type();
  std::string compound_type(char letter);
  std::string constant();
  std::string list(std::string (RustReader::*item)());
  void skip_impl_path();
  std::string back_reference(std::string (RustReader::*rule)());

  std::string_view text_;  // after "_R", where positions are counted from
  size_t at_ = 0;
  int parts_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

uint64_t RustReader::number() {
  if (take('_')) return 0;
  uint64_t value = 0;
  while (!failed_) {
    char c = next();
    if (c == '_') return value + 1;
    uint64_t digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<uint64_t>(c - '0');
    else if (c >= 'a' && c <= 'z')
      digit = static_cast<uint64_t>(c - 'a') + 10;
    else if (c >= 'A' && c <= 'Z')
      digit = static_cast<uint64_t>(c - 'A') + 36;
    else
      failed_ = true;
    value = value * 62 + digit;
  }
  return 0;
}

std::string RustReader::identifier() {
  if (take('s')) number();
  bool is_punycode = take('u');
  size_t length = 0;
  while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
    length = length * 10 + static_cast<size_t>(next() - '0');
    if (length > text_.size()) return give_up();
    if (length == 0) break;  // "0" is a whole number: digits after it belong to something else
  }
  take('_');
  if (length > text_.size() - at_) return give_up();
  std::string name(text_.substr(at_, length));
  at_ += length;
  return is_punycode ? "punycode{" + name + "}" : name;
}

std::string RustReader::back_reference(std::string (RustReader::*rule)()) {
  size_t here = at_ - 1;
  uint64_t target = number();
  if (target >= here) return give_up();
  size_t resume = at_;
  at_ = target;
  std::string text = (this->*rule)();
  at_ = resume;
  return text;
}

std::string RustReader::list(std::string (RustReader::*item)()) {
  std::string text;
  while (!failed_ && !take('E')) text += (text.empty() ? "" : ", ") + (this->*item)();
  return text;
}

void RustReader::skip_impl_path() {
  if (take('s')) number();
  path();
}

std::string RustReader::nested_path() {
  char space = next();
  std::string parent = path();
  uint64_t number_of_it = 0;
  if (take('s')) number_of_it = number() + 1;
  std::string name = identifier();
  if (space == 'C') return parent + "::{closure#" + std::to_string(number_of_it) + "}";
  if (space == 'S') return parent + "::{shim:" + name + "}";
  return name.empty() ? parent : parent + "::" + name;
}

std::string RustReader::instance() {
  std::string item = path();
  return item + "::<" + list(&RustReader::generic) + ">";
}

std::string RustReader::path() {
  enter();
  std::string text;
  char letter = failed_ ? '\0' : next();
  switch (letter) {
    case 'C': text = identifier(); break;
    case 'N': text = nested_path(); break;
    case 'I': text = instance(); break;
    case 'B': text = back_reference(&RustReader::path); break;
    case 'M':
      skip_impl_path();
      text = "<" + type() + ">";
      break;
    case 'X': skip_impl_path(); [[fallthrough]];
    case 'Y':
      text = "<" + type() + " as ";
      text += path() + ">";
      break;
    default: failed_ = true;
  }
  depth_--;
  return text;
}

std::string RustReader::generic() {
  if (take('L')) return number(), "'_";
  if (take('K')) return constant();
  return type();
}

// An integer constant, in hex as it stands: "Kj7b_" is 0x7b.
std::string RustReader::constant() {
  if (take('p')) return "_";
  if (take('B')) return back_reference(&RustReader::constant);
  next();  // its type
  std::string text = take('n') ? "-0x" : "0x";
  for (char c = next(); c != '_' && !failed_; c = next()) text += c;
  return text;
}

std::string RustReader::type() {
  static constexpr struct {
    char letter;
    const char* name;
  } kBasic[] = {
      {'a', "i8"},   {'b', "bool"},  {'c', "char"},  {'d', "f64"}, {'e', "str"}, {'f', "f32"},
      {'h', "u8"},   {'i', "isize"}, {'j', "usize"}, {'l', "i32"}, {'m', "u32"}, {'n', "i128"},
      {'o', "u128"}, {'s', "i16"},   {'t', "u16"},   {'u', "()"},  {'v', "..."}, {'x', "i64"},
      {'y', "u64"},  {'z', "!"},     {'p', "_"},
  };
  enter();
  char letter = failed_ ? '\0' : next();
  for (const auto& basic : kBasic) {
    if (basic.letter != letter) continue;
    depth_--;
    return basic.name;
  }
  std::string text = failed_ ? "" : compound_type(letter);
  depth_--;
  return text;
}

std::string RustReader::compound_type(char letter) {
  switch (letter) {
    case 'R':
    case 'Q':
      if (take('L')) number();
      return (letter == 'R' ? "&" : "&mut ") + type();
    case 'P': return "*const " + type();
    case 'O': return "*mut " + type();
    case 'S': return "[" + type() + "]";
    case 'A': {
      std::string element = type();
      return "[" + element + "; " + constant() + "]";
    }
    case 'T': return "(" + list(&RustReader::type) + ")";
    case 'F':
      if (take('G')) number();
      take('U');
      if (take('K') && !take('C')) identifier();
      list(&RustReader::type);
      type();
      return "fn";
    case 'D': {
      if (take('G')) number();
      std::string traits = list(&RustReader::path);
      if (take('L')) number();
      return "dyn " + traits;
    }
    case 'B': return back_reference(&RustReader::type);
    default: at_--; return path();
  }
}

}  // namespace

std::optional<std::string> demangle_rust_v0(std::string_view mangled) {
  if (!mangled.starts_with("_R")) return std::nullopt;
  // Optimisers append ".llvm.1234" and the like.
  mangled = mangled.substr(2, mangled.find('.') - 2);
  RustReader reader(mangled);
  std::string text = reader.path();
  if (reader.failed() || text.empty()) return std::nullopt;
  return text;
}

}  // namespace flowtap
