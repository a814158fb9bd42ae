// Places; see places.h.

#include "runtime/places.h"

#include "source/diagnostics.h"

namespace flowtap {

ScriptPlace::ScriptPlace(const Sources& sources, Span span) {
  if (span.file >= sources.size()) return;
  const SourceFile& file = sources.file(span.file);
  LineColumn begin = file.position(span.begin);
  LineColumn end = file.position(span.end);
  excerpt_ = excerpt(sources, span);
  place_ = {.file = file.name(), .line = begin.line, .column = begin.column, .excerpt = excerpt_};
  if (end.line == begin.line) place_.end_column = end.column;
}

}  // namespace flowtap
