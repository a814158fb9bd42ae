#pragma once
// The lexer: script text to tokens, one at a time. Some parts of a script are not made of tokens
// (attach points hold paths and wildcards, C definitions hold C); for these the parser looks at
// the text itself and moves the lexer behind it with seek().

#include <cstdint>
#include <string_view>
#include <vector>

#include "lang/token.h"
#include "source/diagnostics.h"
#include "source/source.h"

namespace flowtap {

class Lexer {
 public:
  // `text` stands in `file`, its first byte at offset `base`.
  Lexer(std::string_view text, uint32_t file, uint32_t base = 0);

  // The next token; an End token at the end of the text, again and again.
  Token next();

  // Continue at this offset of the file.
  void seek(uint32_t offset);

 private:
  void skip_blanks();
  void skip_line();
  bool skip_comment();
  char peek(size_t ahead = 0) const;
  size_t word_end(size_t from) const;
  Token make(TokenKind kind, size_t begin, size_t end);
  Token bad(size_t begin, size_t end, std::string error, std::string hint = {});
  Token read_integer();
  Token read_string();
  Token read_word();
  Token read_dollar();
  Token read_map();
  Token read_symbol();

  std::string_view text_;
  uint32_t file_;
  uint32_t base_;
  size_t at_ = 0;
  bool at_start_ = true;  // no token was read yet: a shebang line may still come
  size_t open_comment_ = std::string_view::npos;  // where a comment began that is never closed
};

bool is_keyword(std::string_view word);

// All tokens of a text that holds nothing but tokens, with End as the last one.
std::vector<Token> lex(const Sources& sources, uint32_t file, Diagnostics& diagnostics);

}  // namespace flowtap
