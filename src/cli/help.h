#pragma once
// Texts about options, all made from the option table.

#include <string>
#include <vector>

namespace flowtap {

// Words of a paragraph in lines of at most `width`, each with its newline.
std::string filled(const std::string& text, size_t width);

struct TextPair {
  std::string left, right;
};
std::string two_columns(const std::vector<TextPair>& rows);

std::string help_text();

// docs/options.md, the man page of flowtap itself, and completion for bash.
std::string options_page();
std::string man_page();
std::string completion_script();

// Text for roff(7) and for a cell of a Markdown table, where a '|' would end it, also in `code`.
std::string roff(std::string_view text);
std::string man_terms(const std::vector<TextPair>& rows);
std::string markdown_cell(std::string_view text);

}  // namespace flowtap
