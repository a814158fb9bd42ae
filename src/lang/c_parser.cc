// Parses the C definitions of a script. Way in: parse_c().
//
//   definition  = ( struct | enum ) { attribute } [";"]
//   struct      = ("struct" | "union") { attribute } [name] [ "{" { field } "}" ]
//   enum        = "enum" { attribute } [name] [ "{" value { "," value } [","] "}" ]
//
// Definitions inside of others are lifted out: each gets a name, its own if it has one, and the
// field refers to it by that name. So the result is a flat list in which every struct comes after
// the structs it holds, the order in which they can be laid out.
// A mistake ends the definition it is in; the next one is read as if nothing had happened.

#include "lang/c_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "base/text.h"
#include "lang/c_constant.h"
#include "lang/c_directives.h"
#include "lang/lexer.h"
#include "lang/parser.h"
#include "lang/raw_text.h"

namespace flowtap {

namespace {

constexpr int kMostNesting = 50;
// In one constant; defines that refer to each other would never end.
constexpr int kMostLookups = 200;

constexpr std::array<std::string_view, 10> kCNumberWords = {
    "char",     "short",      "int",   "long",   "signed",
    "unsigned", "__signed__", "float", "double", "__int128"};
constexpr std::array<std::string_view, 6> kQualifiers = {"const",      "volatile",     "restrict",
                                                         "__restrict", "__volatile__", "__const"};

// Attributes that would change a layout in ways that are not known here.
constexpr std::array<std::string_view, 4> kUnknownLayouts = {"mode", "vector_size", "ms_struct",
                                                             "scalar_storage_order"};
// What `aligned` without a number means: enough for every type.
constexpr uint64_t kMostNatural = 16;

// "long unsigned int" and its like in one order: [unsigned] char|short|int|long|long long.
std::string number_name(const std::vector<std::string>& words) {
  auto count = [&](std::string_view word) { return std::count(words.begin(), words.end(), word); };
  if (count("double")) return count("long") ? "long double" : "double";
  if (count("float")) return "float";
  std::string name = "int";
  if (count("__int128")) name = "__int128";
  if (count("char")) name = "char";
  if (count("short")) name = "short";
  if (count("long")) name = count("long") > 1 ? "long long" : "long";
  return count("unsigned") ? "unsigned " + name : name;
}

std::string integer_type_name(const EnumInteger& integer) {
  const char* name = integer.bytes == 1   ? "char"
                     : integer.bytes == 2 ? "short"
                     : integer.bytes == 4 ? "int"
                                          : "long";
  return fmt::format("{}{}", integer.is_signed ? "" : "unsigned ", name);
}

class CParser {
 public:
  CParser(std::span<const std::string> predefined, Diagnostics& diagnostics)
      : diagnostics_(diagnostics), directives_(predefined, out_, diagnostics) {}

  CDeclarations parse(std::span<const CDefinition> definitions);

 private:
  struct Attributes {
    bool is_packed = false;
    uint64_t alignment = 0;  // the widest, which counts for members
    uint64_t last = 0;       // the last, which counts for structs

    void add(const Attributes& more) {
      is_packed |= more.is_packed;
      align(more.alignment);
    }
    void align(uint64_t bytes) {
      alignment = std::max(alignment, bytes);
      if (bytes) last = bytes;
    }
  };

  const Token& token() const { return tokens_[std::min(at_, tokens_.size() - 1)]; }
  bool at(std::string_view text) const { return !failed_ && token().text == text; }
  bool at_name() const { return !failed_ && token().kind == TokenKind::Name; }
  bool at_word() const { return at_name() || (!failed_ && token().kind == TokenKind::Keyword); }
  bool at_end() const { return failed_ || token().kind == TokenKind::End; }
  bool accept(std::string_view text);
  void expect(std::string_view text, std::string_view where);
  void fail_expected(std::string_view what);
  void fail(Span span, std::string message);
  void skip_parentheses();

  void definition(const CDefinition& definition);
  std::string obey_directives(const CDefinition& definition);
  void push_token(const Token& token);
  std::string struct_or_union();
  void fields(CStruct& out);
  void field(CStruct& out);
  void declarator(CStruct& out, CType type, Attributes found);
  void function_pointer(CField& out);
  void suffixes(CField& out);
  std::string specifiers(Attributes& found);
  std::string enumeration();
  void enum_values(CEnum& out);
  Attributes attributes();
  void attribute(Attributes& found);
  uint64_t alignment();
  int64_t constant(std::initializer_list<std::string_view> ends, std::string_view what);
  std::optional<int64_t> lookup(const std::string& name);
  std::string tag_or_unnamed();

  CDeclarations out_;
  Diagnostics& diagnostics_;
  Directives directives_;
  std::map<std::string, int64_t> enumerators_;
  const CDefinition* current_ = nullptr;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  bool failed_ = false;
  int depth_ = 0;
  int lookups_ = 0;
  int unnamed_ = 0;
};

CDeclarations CParser::parse(std::span<const CDefinition> definitions) {
  ConstantLookup find = [this](const std::string& name) { return lookup(name); };
  for (const CDefinition& d : definitions) {
    lookups_ = 0;
    if (d.text.starts_with('#')) {
      directives_.line(d, find);
    } else if (directives_.is_active()) {
      definition({.span = d.span, .text = obey_directives(d)});
    }
  }
  directives_.finish();
  return std::move(out_);
}

bool CParser::accept(std::string_view text) {
  if (!at(text)) return false;
  at_++;
  return true;
}

void CParser::expect(std::string_view text, std::string_view where) {
  if (!accept(text)) fail_expected(fmt::format("'{}' {}", text, where));
}

void CParser::fail_expected(std::string_view what) {
  bool is_end = token().kind == TokenKind::End;
  fail(token().span,
       fmt::format("expected {}, found {}", what,
                   is_end ? "the end of the definition" : fmt::format("'{}'", token().text)));
}

void CParser::fail(Span span, std::string message) {
  if (!failed_) diagnostics_.error(span, std::move(message));
  failed_ = true;
}

// At "(": behind its partner.
void CParser::skip_parentheses() {
  int depth = 0;
  do {
    if (at("(")) depth++;
    if (at(")")) depth--;
    at_++;
  } while (depth > 0 && !at_end());
}

// Lines with '#' within a definition. What does not count becomes blanks, so that all keeps its
// place.
std::string CParser::obey_directives(const CDefinition& definition) {
  std::string text = definition.text;
  size_t done = 0;
  auto skip_to = [&](size_t end, bool counts) {
    for (; done < end; done++)
      if (!counts && text[done] != '\n') text[done] = ' ';
  };
  each_c_line(definition.text, [&](size_t begin, size_t end) {
    skip_to(begin, directives_.is_active());
    Span span = definition.span;
    span.begin += static_cast<uint32_t>(begin);
    span.end = definition.span.begin + static_cast<uint32_t>(end);
    directives_.line({.span = span, .text = definition.text.substr(begin, end - begin)},
                     [this](const std::string& name) { return lookup(name); });
    skip_to(end, false);
  });
  skip_to(text.size(), directives_.is_active());
  return text;
}

void CParser::definition(const CDefinition& definition) {
  current_ = &definition;
  Lexer lexer(definition.text, definition.span.file, definition.span.begin);
  tokens_.clear();
  do push_token(lexer.next());
  while (tokens_.back().kind != TokenKind::End);
  at_ = 0;
  failed_ = false;
  if (at("enum")) {
    enumeration();
  } else {
    struct_or_union();
  }
  accept(";");
  if (!at_end()) fail_expected("';' after this definition");
}

// A #define that stands for attributes, as `__packed` in headers of the kernel, is replaced.
void CParser::push_token(const Token& token) {
  auto is_meant = [&](const CDefine& d) {
    return d.name == token.text && !d.is_function &&
           (d.text.starts_with("__attribute__") || d.text.starts_with("_Alignas"));
  };
  auto define = std::find_if(out_.defines.begin(), out_.defines.end(), is_meant);
  if (token.kind != TokenKind::Name || define == out_.defines.end())
    return tokens_.push_back(token);
  Lexer lexer(define->text, define->span.file, define->span.begin);
  for (Token part = lexer.next(); part.kind != TokenKind::End; part = lexer.next())
    tokens_.push_back(part);
}

std::string CParser::tag_or_unnamed() {
  if (at_name()) return std::string(tokens_[at_++].text);
  return fmt::format("(unnamed {})", ++unnamed_);
}

// Returns the name of the type: "struct a".
std::string CParser::struct_or_union() {
  CStruct out;
  out.is_union = at("union");
  std::string keyword(token().text);
  out.span = token().span;
  at_++;
  Attributes before = attributes();
  if (!at_name() && !at("{")) fail_expected(fmt::format("a name or '{{' after '{}'", keyword));
  out.name = tag_or_unnamed();
  std::string type_name = keyword + " " + out.name;
  if (!accept("{")) return type_name;
  if (++depth_ > kMostNesting) fail(out.span, "this is nested too deeply");
  fields(out);
  depth_--;
  Attributes after = attributes();
  out.is_packed = before.is_packed || after.is_packed;
  out.alignment = after.last ? after.last : before.last;
  if (!failed_) out_.structs.push_back(std::move(out));
  return type_name;
}

void CParser::fields(CStruct& out) {
  while (!at_end() && !at("}")) {
    if (!accept(";")) field(out);
  }
  expect("}", "to close the definition");
}

//   field = specifiers [ declarator { "," declarator } ] ";"
void CParser::field(CStruct& out) {
  Span span = token().span;
  CType type;
  Attributes common;
  type.name = specifiers(common);
  bool is_unnamed_aggregate = type.name.find('(') != std::string::npos;
  if (at(";") && is_unnamed_aggregate && !type.name.starts_with("enum")) {
    out.fields.push_back({.span = span,
                          .name = {},
                          .type = std::move(type),
                          .is_packed = common.is_packed,
                          .alignment = common.alignment});
  } else if (!at(";")) {
    do declarator(out, type, common);
    while (accept(","));
  }
  expect(";", "after this field");
}

//   declarator = { "*" | qualifier | attribute } ( name | function_pointer | ) suffixes { attribute
//   }
void CParser::declarator(CStruct& out, CType type, Attributes found) {
  CField field;
  field.span = token().span;
  field.type = std::move(type);
  while (!at_end()) {
    found.add(attributes());
    if (accept("*")) {
      field.type.pointers++;
    } else if (contains(kQualifiers, token().text)) {
      at_++;
    } else {
      break;
    }
  }
  if (at("(")) {
    function_pointer(field);
  } else if (at_word()) {
    field.span = token().span;
    field.name = tokens_[at_++].text;
  } else if (!at(":")) {
    return fail_expected("the name of a field");
  }
  suffixes(field);
  found.add(attributes());
  field.is_packed = found.is_packed;
  field.alignment = found.alignment;
  out.fields.push_back(std::move(field));
}

//   function_pointer = "(" { "*" } name { "[" constant "]" } ")" ( "(" ... ")" | "[" ... "]" )
//   Whatever it points to, it can only be followed by a cast: `void *` stands for it.
void CParser::function_pointer(CField& out) {
  at_++;
  if (!at("*")) return fail_expected("'*' after '('");
  while (accept("*") || (contains(kQualifiers, token().text) && accept(token().text))) {
  }
  if (!at_word()) return fail_expected("the name of a field");
  out.span = token().span;
  out.name = tokens_[at_++].text;
  out.type = CType{.name = "void", .pointers = 1, .dimensions = {}};
  suffixes(out);
  expect(")", "after the name of the pointer");
  if (at("(")) return skip_parentheses();
  while (accept("[")) {
    constant({"]"}, "the length of an array");
    expect("]", "after the length of the array");
  }
}

//   suffixes = { "[" [constant] "]" } [ ":" constant ]
void CParser::suffixes(CField& out) {
  while (accept("[")) {
    int64_t length = at("]") ? 0 : constant({"]"}, "the length of an array");
    if (length < 0) fail(out.span, "the length of an array must not be negative");
    expect("]", "after the length of the array");
    out.type.dimensions.push_back(static_cast<uint64_t>(length));
  }
  if (accept(":")) {
    out.bits = constant({",", ";", "__attribute__"}, "the width of a bit field");
    if (out.bits < 0 || out.bits > 64) fail(out.span, "a bit field has 0 to 64 bits");
    if (out.bits == 0 && !out.name.empty()) fail(out.span, "a bit field of 0 bits has no name");
  }
}

//   specifiers = { qualifier } ( struct | enum | number_word { number_word } | name )
//   Qualifiers and attributes, which hold for all names declared, may stand anywhere between.
std::string CParser::specifiers(Attributes& found) {
  std::vector<std::string> number;
  std::string name;
  while (!at_end()) {
    found.add(attributes());
    if (contains(kQualifiers, token().text)) {
      at_++;
    } else if (contains(kCNumberWords, token().text)) {
      number.emplace_back(tokens_[at_++].text);
    } else if (!name.empty() || !number.empty()) {
      break;
    } else if (at("struct") || at("union")) {
      name = struct_or_union();
    } else if (at("enum")) {
      name = enumeration();
    } else if (at_name()) {
      name = tokens_[at_++].text;
    } else {
      fail_expected("a type");
    }
  }
  if (name == "_Bool") return "bool";
  return number.empty() ? name : number_name(number);
}

// Returns the name of the type: "enum a", or an integer for an enum without a name.
std::string CParser::enumeration() {
  CEnum out;
  out.span = token().span;
  at_++;
  Attributes found = attributes();
  if (at_name()) out.name = tokens_[at_++].text;
  if (!accept("{")) {
    if (out.name.empty()) fail_expected("a name or '{' after 'enum'");
    return "enum " + out.name;
  }
  enum_values(out);
  expect("}", "to close the enum");
  found.add(attributes());
  out.is_packed = found.is_packed;
  std::string type_name =
      out.name.empty() ? integer_type_name(integer_of(out)) : "enum " + out.name;
  if (!failed_) out_.enums.push_back(std::move(out));
  return type_name;
}

//   value = name [ "=" constant ]
void CParser::enum_values(CEnum& out) {
  int64_t next = 0;
  while (!at_end() && !at("}")) {
    if (!at_word()) return fail_expected("the name of a value");
    std::string name(tokens_[at_++].text);
    if (accept("=")) next = constant({",", "}"}, "the value of an enumerator");
    enumerators_[name] = next;
    out.values.push_back({std::move(name), next});
    next = static_cast<int64_t>(static_cast<uint64_t>(next) + 1);
    if (!accept(",")) return;
  }
}

//   attributes = { "__packed" | "_Alignas" "(" constant ")" | "__attribute__" "(" list ")" }
//   list       = "(" [ attribute { "," attribute } ] ")"
CParser::Attributes CParser::attributes() {
  Attributes found;
  while (!at_end()) {
    if (accept("__packed")) {
      found.is_packed = true;
    } else if (accept("_Alignas")) {
      found.align(alignment());
    } else if (accept("__attribute__")) {
      expect("(", "after '__attribute__'");
      expect("(", "after '__attribute__('");
      while (!at_end() && !at(")")) {
        attribute(found);
        if (!accept(",")) break;
      }
      expect(")", "after the attributes");
      expect(")", "after the attributes");
    } else {
      break;
    }
  }
  return found;
}

//   attribute = word [ "(" ... ")" ]     `__word__` is the same word
void CParser::attribute(Attributes& found) {
  Span span = token().span;
  std::string_view word = token().text;
  if (!at_word()) return fail_expected("the name of an attribute");
  at_++;
  if (word.size() > 4 && word.starts_with("__") && word.ends_with("__"))
    word = word.substr(2, word.size() - 4);
  if (contains(kUnknownLayouts, word))
    return fail(span, fmt::format("the attribute '{}' is not possible here", word));
  if (word == "packed") found.is_packed = true;
  if (word == "aligned")
    found.align(at("(") ? alignment() : kMostNatural);
  else if (at("("))
    skip_parentheses();
}

// "(" constant ")"
uint64_t CParser::alignment() {
  constexpr int64_t kMost = 65536;
  expect("(", "before an alignment");
  Span span = token().span;
  int64_t bytes = constant({")"}, "an alignment");
  expect(")", "after an alignment");
  bool is_right = bytes > 0 && bytes <= kMost && std::has_single_bit(static_cast<uint64_t>(bytes));
  if (!is_right) fail(span, fmt::format("an alignment is a power of two, at most {}", kMost));
  return is_right ? static_cast<uint64_t>(bytes) : 0;
}

// A constant expression that runs to one of `ends`, outside of parentheses.
int64_t CParser::constant(std::initializer_list<std::string_view> ends, std::string_view what) {
  size_t begin = at_;
  for (int depth = 0; !at_end(); at_++) {
    if (depth == 0 && contains(ends, token().text)) break;
    if (at("(")) depth++;
    if (at(")")) depth--;
  }
  if (begin == at_) return fail_expected(what), 0;
  Span span = cover(tokens_[begin].span, tokens_[at_ - 1].span);
  std::string text;  // of the definition, or of a #define in it
  for (size_t i = begin; i < at_; i++) {
    bool is_apart = i > begin && tokens_[i].span.begin != tokens_[i - 1].span.end;
    text.append(is_apart ? " " : "").append(tokens_[i].text);
  }
  Diagnostics ignored;
  uint32_t ids = 1;
  lookups_ = 0;
  ExprPtr expr = parse_expression(text, span, ids, ignored);
  ConstantContext context;
  context.lookup = [this](const std::string& name) { return lookup(name); };
  // A number that is wrong is a number in the tree.
  bool is_right = expr && !ignored.has_errors();
  std::optional<int64_t> value = is_right ? evaluate_constant(*expr, context) : std::nullopt;
  if (!value) fail(span, fmt::format("{} must be a constant, found '{}'", what, text));
  return value.value_or(0);
}

// The value of an enumerator or of a #define that stands for a constant.
std::optional<int64_t> CParser::lookup(const std::string& name) {
  auto enumerator = enumerators_.find(name);
  if (enumerator != enumerators_.end()) return enumerator->second;
  auto is_named = [&](const CDefine& d) { return d.name == name && !d.is_function; };
  auto define = std::find_if(out_.defines.begin(), out_.defines.end(), is_named);
  if (define == out_.defines.end() || ++lookups_ > kMostLookups) return std::nullopt;
  Diagnostics ignored;
  uint32_t ids = 1;
  ExprPtr expr = parse_expression(define->text, define->span, ids, ignored);
  if (!expr || ignored.has_errors()) return std::nullopt;
  ConstantContext context;
  context.lookup = [this](const std::string& inner) { return lookup(inner); };
  return evaluate_constant(*expr, context);
}

}  // namespace

EnumInteger integer_of(const CEnum& definition) {
  int64_t low = 0, high = 0;
  for (const CEnum::Value& value : definition.values) {
    low = std::min(low, value.value);
    high = std::max(high, value.value);
  }
  EnumInteger integer{.bytes = definition.is_packed ? 1u : 4u, .is_signed = low < 0};
  auto fits = [&] {
    uint32_t bits = integer.bytes * 8 - integer.is_signed;
    return bits >= 63 || (high < int64_t{1} << bits && low >= -(int64_t{1} << bits));
  };
  while (!fits()) integer.bytes *= 2;
  return integer;
}

CDeclarations parse_c(std::span<const CDefinition> definitions,
                      std::span<const std::string> predefined, Diagnostics& diagnostics) {
  return CParser(predefined, diagnostics).parse(definitions);
}

}  // namespace flowtap
