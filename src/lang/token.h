#pragma once
// A token: one word of a script, with the place it was written at. Keywords and symbols are told
// apart by their text, so a parse function reads like the grammar rule above it.

#include <cstdint>
#include <string>
#include <string_view>

#include "source/source.h"

namespace flowtap {

enum class TokenKind : uint8_t {
  End,        // of the text
  Integer,    // 42, 0x2a, 1e6, 10ms: the value is in `number`
  String,     // "text": the value, escapes resolved, is in `value`
  Name,       // an identifier that is no keyword
  Keyword,    // see is_keyword()
  Variable,   // $x: the name without '$' is in `value`
  Parameter,  // $1, $#: the position is in `number`, 0 for $#
  Map,        // @x, @: `text` is the name
  Symbol,     // an operator or a bracket
  Bad,        // something that begins no token; `error` says what
};

struct Token {
  TokenKind kind = TokenKind::End;
  Span span;
  std::string_view text;  // as written
  uint64_t number = 0;
  std::string value;
  // What is wrong with the token, if anything. The reader of a token reports it, so that text
  // which is only skipped stays silent.
  std::string error;
  std::string hint;
};

}  // namespace flowtap
