// Rewriting expressions; see expression.h. Way in: Expressions::rewrite(). Only words are changed,
// one after the other; what they mean together the compiler finds out.

#include "generic/expression.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace flowtap {

namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct Alias {
  std::string_view word, meaning;
};
constexpr std::array<Alias, 13> kAliases = {{{"$PID", "pid"},
                                             {"$pid", "tid"},  // the kernel's word for a thread
                                             {"$tgid", "pid"},
                                             {"$COMM", "comm"},
                                             {"$comm", "comm"},
                                             {"$uid", "uid"},
                                             {"$gid", "gid"},
                                             {"$cpu", "cpu"},
                                             {"$ts", "nsecs"},
                                             {"$random_u32", "rand"},
                                             {"$task", "curtask"},
                                             {"$current_task", "curtask"},
                                             {"NULL", "0"}}};

// "unsigned  long" -> "unsigned long"; 'const' says nothing here.
std::string plain_type(std::string_view type) {
  std::string out;
  for (const std::string& word : split(type, ' ')) {
    if (word.empty() || word == "const") continue;
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

// As wide as a register, without a sign: a cast would change nothing.
bool is_register_type(std::string_view type) {
  std::string plain = plain_type(type);
  for (const char* same :
       {"u64", "__u64", "uint64_t", "uint64", "size_t", "unsigned long", "unsigned long long", ""})
    if (plain == same) return true;
  return false;
}

// arg3 -> 3; nothing for other words.
std::optional<int64_t> argument_of(std::string_view word) {
  if (!word.starts_with("arg") || word.size() < 4 || !is_digit(word[3])) return std::nullopt;
  return parse_number(word.substr(3));
}

}  // namespace

bool is_text_type(std::string_view type) {
  std::string plain = plain_type(type);
  return plain == "char*" || plain == "char *";
}

std::string as_type(const std::string& expression, std::string_view type, const ProbeSpec& spec) {
  if (is_text_type(type)) return fmt::format("str({})", expression);
  // Fields of an event have their types already.
  if (spec.kind == SpecKind::Event || is_register_type(type)) return expression;
  if (expression.starts_with("((") || expression.starts_with("@")) return expression;
  return fmt::format("({})({})", plain_type(type), expression);
}

// One walk over a text. Each take_ function is called at the start of what it takes, appends to
// out_ and moves at_ behind it.
class Expressions::Rewriter {
 public:
  Rewriter(Expressions& expressions, std::string_view text, std::string_view whole)
      : all_(expressions), spec_(expressions.spec), text_(text), whole_(whole) {}

  Result<std::string> run() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      Status status = c == '"'                      ? take_text()
                      : c == '\''                   ? take_character()
                      : c == '$' || is_word_char(c) ? take_word()
                                                    : take_other();
      if (!status) return status.error();
    }
    return out_;
  }

 private:
  Error error(size_t at, std::string message, std::string hint = {}) const {
    // The text is a part of the whole, so that a place in one is a place in the other.
    bool is_part = text_.data() >= whole_.data() && text_.data() <= whole_.data() + whole_.size();
    size_t before = is_part ? static_cast<size_t>(text_.data() - whole_.data()) : 0;
    return spec_error(whole_, before + at, std::move(message), std::move(hint));
  }
  std::string hint_return() const {
    return fmt::format("trace the return: 'r:{}:{}'", spec_.target, spec_.name);
  }

  Status take_other() {
    out_ += text_[at_++];
    return Done{};
  }

  Status take_text() {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return error(at_, "this text has no end");
    out_ += text_.substr(at_, end + 1 - at_);
    at_ = end + 1;
    return Done{};
  }

  Status take_character() {
    if (at_ + 2 >= text_.size() || text_[at_ + 2] != '\'')
      return error(at_, "this is not one character between quotes");
    out_ += std::to_string(static_cast<int>(text_[at_ + 1]));
    at_ += 3;
    return Done{};
  }

  Status take_word() {
    size_t start = at_++;
    while (at_ < text_.size() && is_word_char(text_[at_])) at_++;
    std::string_view word = text_.substr(start, at_ - start);
    bool is_field = out_.ends_with(".") || out_.ends_with("->");
    if (is_field || is_digit(word[0])) {
      out_ += word;
      return Done{};
    }
    bool is_call = at_ < text_.size() && text_[at_] == '(';
    if (word == "$latency") return take_latency(start);
    if (word == "$entry") return take_entry(start, is_call);
    if (word == "STRCMP" && is_call) return take_comparison();
    if (word == "$retval" || word == "retval") return take_retval(start);
    for (const Alias& alias : kAliases)
      if (alias.word == word) {
        out_ += alias.meaning;
        return Done{};
      }
    if (word[0] == '$')
      return error(start, fmt::format("'{}' means nothing here", word),
                   "there are $retval, $latency, $entry(x), $PID, $COMM, $uid and $cpu");
    return take_name(start, word);
  }

  Status take_latency(size_t start) {
    if (spec_.kind != SpecKind::Return)
      return error(start, "'$latency' is known at a return only", hint_return());
    all_.uses_latency = true;
    out_ += "(nsecs - @start[tid])";
    return Done{};
  }

  // What stands in the parentheses that begin here.
  Result<std::string_view> take_arguments() {
    size_t close = find_outside(text_, ")", at_ + 1);
    if (close == text_.size()) return error(at_, "there is no ')' for this '('");
    std::string_view inside = text_.substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    return inside;
  }

  Status take_entry(size_t start, bool is_call) {
    if (spec_.kind != SpecKind::Return)
      return error(start, "'$entry' is known at a return only", hint_return());
    if (!is_call) return error(start, "'$entry' needs an argument", "write $entry(size)");
    Result<std::string_view> inside = take_arguments();
    if (!inside) return inside.error();
    ProbeSpec entered = spec_;
    entered.kind = SpecKind::Function;
    Result<std::string> kept = Expressions(entered).rewrite(*inside, whole_);
    if (!kept) return kept.error();
    size_t number = 0;
    while (number < all_.entries.size() && all_.entries[number] != *kept) number++;
    if (number == all_.entries.size()) all_.entries.push_back(*kept);
    out_ += fmt::format("@entry{}[tid]", number);
    return Done{};
  }

  Status take_comparison() {
    size_t open = at_;
    Result<std::string_view> inside = take_arguments();
    if (!inside) return inside.error();
    size_t comma = find_outside(*inside, ",");
    if (comma == inside->size())
      return error(open, "STRCMP takes a text and a value", "write STRCMP(\"name\", value)");
    Result<std::string> value = all_.rewrite(trim(inside->substr(comma + 1)), whole_);
    if (!value) return value.error();
    out_ += fmt::format("(str({}) == {})", *value, trim(inside->substr(0, comma)));
    return Done{};
  }

  Status take_retval(size_t start) {
    if (spec_.kind != SpecKind::Return)
      return error(start, "only a return has a value", hint_return());
    out_ += is_register_type(all_.retval_type)
                ? "retval"
                : fmt::format("(({})retval)", plain_type(all_.retval_type));
    return Done{};
  }

  Status take_name(size_t start, std::string_view word) {
    std::optional<size_t> number;  // of the argument, counted from zero
    std::string_view type;
    if (std::optional<int64_t> counted = argument_of(word)) {
      if (*counted < 1)
        return error(start, "arguments are counted from one here", "the first one is arg1");
      number = static_cast<size_t>(*counted - 1);
    }
    for (size_t i = 0; i < spec_.parameters.size(); i++)
      if (spec_.parameters[i].name == word) {
        number = i;
        type = spec_.parameters[i].type;
      }
    if (number && spec_.kind == SpecKind::Return)
      return error(start, "arguments are gone when a function returns",
                   fmt::format("keep it from the entry: $entry({})", word));
    std::string meaning = !number ? std::string(word)
                          : is_register_type(type)
                              ? fmt::format("arg{}", *number)
                              : fmt::format("(({})arg{})", plain_type(type), *number);
    constexpr std::string_view kUser = "@user";
    bool is_user = number && text_.substr(at_).starts_with(kUser);
    if (is_user) at_ += kUser.size();
    out_ += is_user ? fmt::format("uptr({})", meaning) : meaning;
    return Done{};
  }

  Expressions& all_;
  const ProbeSpec& spec_;
  std::string_view text_, whole_;
  size_t at_ = 0;
  std::string out_;
};

Result<std::string> Expressions::rewrite(std::string_view text, std::string_view whole) {
  return Rewriter(*this, text, whole).run();
}

}  // namespace flowtap
