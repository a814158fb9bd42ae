#pragma once
// What is wrong with a script: collected by every stage, shown by the driver between stages.
//
//   slow.bt:7:22: error: 'args.nbyte' is not a field of tracepoint:syscalls:sys_enter_write
//     7 |   @size[comm] = hist(args.nbyte);
//       |                      ^^^^^^^^^^
//   hint: did you mean 'args.count'?

#include <string>
#include <vector>

#include "source/source.h"

namespace flowtap {

enum class Severity { Error, Warning };

struct Diagnostic {
  struct Note {
    Span span;
    std::string message;
  };

  Severity severity = Severity::Error;
  Span span;
  std::string message;
  std::string hint;
  std::vector<Note> notes;
  int plan = -1;  // which plan of the script it is about, by its number; -1: all

  Diagnostic& with_hint(std::string text) {
    hint = std::move(text);
    return *this;
  }
  // The same note is kept once, as the message is that it belongs to.
  Diagnostic& with_note(Span place, std::string text) {
    for (const Note& note : notes)
      if (note.span == place && note.message == text) return *this;
    notes.push_back({place, std::move(text)});
    return *this;
  }
};

class Diagnostics {
 public:
  Diagnostic& error(Span span, std::string message);
  Diagnostic& warning(Span span, std::string message);

  bool has_errors() const { return errors_ > 0; }
  const std::vector<Diagnostic>& all() const { return list_; }

  // Those that follow are about one plan; -1: all.
  void set_plan(int plan) { plan_ = plan; }
  Diagnostics of_plan(int plan) const;
  void clear();

 private:
  Diagnostic& add(Diagnostic diagnostic);

  std::vector<Diagnostic> list_;
  size_t errors_ = 0;
  int plan_ = -1;
};

// "file:line:col: " of a place; empty for kNowhere.
std::string place_prefix(const Sources& sources, Span span);

// The line of a place, with carets under what the span covers of it.
std::string excerpt(const Sources& sources, Span span);

// The whole message with source line, carets, notes and hint, ending in a newline.
std::string render(const Diagnostic& diagnostic, const Sources& sources);

}  // namespace flowtap
