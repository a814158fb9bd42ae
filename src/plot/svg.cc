// Svg: the few elements that charts need.

#include "plot/svg.h"

#include <fmt/format.h>

#include <iterator>

#include "output/escape.h"

namespace flowtap {

// XML can have neither control characters nor bytes that are not UTF-8.
std::string escape_xml(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t length = utf8_length(text);
    std::string_view character = text.substr(0, length);
    text.remove_prefix(length > 0 ? length : 1);
    char c = length > 0 ? character[0] : 0;
    if (length == 0)
      out += "\ufffd";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\n')
      out += ' ';
    else
      out += character;
  }
  return out;
}

void Svg::end(std::string_view title, std::string_view element) {
  if (title.empty())
    body_ += "/>\n";
  else
    fmt::format_to(std::back_inserter(body_), "><title>{}</title></{}>\n", escape_xml(title),
                   element);
}

void Svg::circle(double x, double y, std::string_view colour, std::string_view title) {
  fmt::format_to(std::back_inserter(body_),
                 "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"", x, y, colour);
  end(title, "circle");
}

void Svg::box(double x, double y, double width, double height, std::string_view style,
              std::string_view title) {
  fmt::format_to(std::back_inserter(body_),
                 "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" style=\"{}\"",
                 x, y, width, height, style);
  end(title, "rect");
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style,
               std::string_view title) {
  fmt::format_to(std::back_inserter(body_),
                 "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" style=\"{}\"", x1,
                 y1, x2, y2, style);
  end(title, "line");
}

void Svg::path(std::string_view points, std::string_view style) {
  fmt::format_to(std::back_inserter(body_), "<polyline points=\"{}\" style=\"fill:none;{}\"/>\n",
                 points, style);
}

void Svg::text(double x, double y, Align align, std::string_view text, std::string_view style) {
  const char* anchor = align == Align::Left ? "start" : align == Align::Right ? "end" : "middle";
  fmt::format_to(std::back_inserter(body_),
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" style=\"{}\">{}</text>\n", x,
                 y, anchor, style, escape_xml(text));
}

std::string Svg::finish() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 "
      "0 {0:.0f} "
      "{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
      width_, height_, body_);
}

}  // namespace flowtap
