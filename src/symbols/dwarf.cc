// Source lines from DWARF. Way in: find_source_line().

#include "symbols/dwarf.h"

#include <algorithm>

#include "base/interrupt.h"
#include "symbols/dwarf_file.h"

namespace flowtap {

namespace {

bool names_file(std::string_view path, std::string_view wanted) {
  if (!path.ends_with(wanted)) return false;
  size_t before = path.size() - wanted.size();
  return before == 0 || path[before - 1] == '/' || wanted.starts_with('/');
}

struct LineSearch {
  const SourcePlace& wanted;
  std::vector<uint64_t> addresses;
  bool has_file = false;
  int next_line = 0;  // the first after the wanted one that has code

  void take(Dwarf_Line* line) {
    int number = 0, column = 0;
    bool begins = false, is_end = false;
    Dwarf_Addr address = 0;
    const char* file = ::dwarf_linesrc(line, nullptr, nullptr);
    if (!file || !names_file(file, wanted.file)) return;
    has_file = true;
    ::dwarf_lineno(line, &number);
    ::dwarf_linecol(line, &column);
    ::dwarf_linebeginstatement(line, &begins);
    ::dwarf_lineendsequence(line, &is_end);
    ::dwarf_lineaddr(line, &address);
    if (!begins || is_end) return;
    if (number > wanted.line && (next_line == 0 || number < next_line)) next_line = number;
    if (number == wanted.line && (wanted.column == 0 || wanted.column == column))
      addresses.push_back(address);
  }
};

}  // namespace

Result<std::vector<uint64_t>> find_source_line(const std::string& path, const SourcePlace& wanted) {
  ReadingOfOthers reading;
  Result<DwarfFile> info = DwarfFile::open(path);
  if (!info) return info.error();
  LineSearch search{.wanted = wanted, .addresses = {}};
  info->visit_units([&](Dwarf_Die& unit) {
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    if (::dwarf_getsrclines(&unit, &lines, &count) == 0)
      for (size_t i = 0; i < count; i++) search.take(::dwarf_onesrcline(lines, i));
    return true;
  });
  if (!search.has_file)
    return Error{"'" + path + "' was not compiled from a file '" + wanted.file + "'"};
  if (search.addresses.empty()) {
    std::string next = std::to_string(search.next_line);
    return Error{"line " + std::to_string(wanted.line) + " of '" + wanted.file + "' has no code", 0,
                 search.next_line ? "the next line that has is " + next : ""};
  }
  std::sort(search.addresses.begin(), search.addresses.end());
  return search.addresses;
}

}  // namespace flowtap
