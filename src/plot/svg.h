#pragma once
// Svg: a picture as text. Coordinates are pixels from the top left corner.

#include <string>
#include <string_view>

namespace flowtap {

enum class Align { Left, Middle, Right };

class Svg {
 public:
  Svg(double width, double height) : width_(width), height_(height) {}

  // An empty title shows nothing when pointed at.
  void circle(double x, double y, std::string_view colour, std::string_view title);
  void box(double x, double y, double width, double height, std::string_view style,
           std::string_view title = {});
  void line(double x1, double y1, double x2, double y2, std::string_view style,
            std::string_view title = {});
  void path(std::string_view points, std::string_view style);
  void text(double x, double y, Align align, std::string_view text, std::string_view style = {});
  // The whole picture; by itself a file, or part of a page.
  std::string finish() const;

 private:
  void end(std::string_view title, std::string_view element);

  double width_, height_;
  std::string body_;
};

std::string escape_xml(std::string_view text);

}  // namespace flowtap
