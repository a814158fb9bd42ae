// Script text -> tokens. They stand in the text, in order, and the last one is the end.

#include "lang/lexer.h"

#include "support.h"

using namespace flowtap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Sources sources;
  Diagnostics diagnostics;
  uint32_t file = sources.add("fuzz.bt", std::string(fuzz::text_of(data, size)));
  std::vector<Token> tokens = lex(sources, file, diagnostics);
  uint32_t at = 0;
  for (const Token& token : tokens) {
    CHECK(token.span.begin >= at && token.span.end >= token.span.begin);
    CHECK(token.span.end <= size);
    at = token.span.end;
  }
  CHECK(!tokens.empty() && tokens.back().kind == TokenKind::End);
  fuzz::render_some(diagnostics, sources);
  return 0;
}
