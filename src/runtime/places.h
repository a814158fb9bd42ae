#pragma once
// Spans of the image -> places that a Writer can show.

#include <string>

#include "output/writer.h"
#include "source/source.h"

namespace flowtap {

// Owns the text that the Place refers to.
class ScriptPlace {
 public:
  ScriptPlace(const Sources& sources, Span span);
  ScriptPlace(const ScriptPlace&) = delete;
  ScriptPlace& operator=(const ScriptPlace&) = delete;

  const Place& place() const { return place_; }

 private:
  std::string excerpt_;
  Place place_;
};

}  // namespace flowtap
