// Probes: what to attach to, when to act, what to do.
//
//   probe     = [name "="] attach_point { "," attach_point } [","] [predicate] block
//   predicate = "/" expression "/"
//
// An attach point is text, not tokens (see raw_text.cc). In a predicate '/' is a division unless
// a '{' follows, in which case it always closes the predicate.

#include <fmt/format.h>

#include "base/text.h"
#include "lang/parser_class.h"
#include "lang/raw_text.h"

namespace flowtap {

void Parser::probe() {
  uint32_t begin = here().begin;
  seen_code_ = true;
  if (at("}")) return fail(here(), "unexpected '}' outside of a probe");
  Probe probe;
  probe.plan = plan_;
  if (at(TokenKind::Name) && peek(1).text == "=") {
    probe.name = take().text;
    advance();
  }
  attach_points(probe);
  probe.span = since(begin);
  if (at("/")) probe.predicate = predicate();
  if (failed_) return;
  probe.body = block(BlockKind::Statements);
  if (probe.body.span.end) ast_.probes.push_back(std::move(probe));
}

void Parser::attach_points(Probe& probe) {
  do {
    if ((at("{") || at("/")) && !probe.attach.empty()) return;
    attach_point(probe);
  } while (accept(","));
  if (failed_ || at("{") || at("/")) return;

  static const std::vector<std::string> kDeclarations = {"macro", "let", "config", "import",
                                                         "plan"};
  const std::string& first = probe.attach.front().text;
  std::optional<std::string> meant;
  if (first.find(':') == std::string::npos) meant = nearest(first, kDeclarations);
  fail_expected("'{' or a predicate after this attach point",
                meant ? fmt::format("did you mean '{}'?", *meant) : "");
}

void Parser::attach_point(Probe& probe) {
  size_t begin = here().begin - origin_.begin;
  size_t end = attach_point_end(text_, begin);
  if (failed_) return;
  if (end == begin) return fail_expected("an attach point, such as 'kprobe:do_nanosleep'");
  AttachSpec attach;
  attach.span = here();
  attach.span.end = static_cast<uint32_t>(origin_.begin + end);
  attach.text = text_.substr(begin, end - begin);
  attach.parts = split_attach_point(attach.text);
  probe.attach.push_back(std::move(attach));
  previous_end_ = static_cast<uint32_t>(origin_.begin + end);
  seek(previous_end_);
}

ExprPtr Parser::predicate() {
  advance();
  in_predicate_ = true;
  ExprPtr condition = expression();
  in_predicate_ = false;
  expect("/", "to close the predicate");
  return condition;
}

}  // namespace flowtap
