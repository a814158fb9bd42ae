// Hand-made .eh_frame sections, broken ones, and real files beside what readelf says of them.

#include "symbols/unwind_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>

#include "arch/processors.h"
#include "symbols/process_maps.h"

namespace flowtap {
namespace {

std::string text_of(uint32_t rule) {
  int64_t offset = static_cast<int32_t>(rule) >> kUnwindOffsetShift;
  uint32_t saved = rule >> kUnwindBpShift & kUnwindBpMask;
  std::string bp = saved == 0               ? "u"
                   : saved == kUnwindBpLost ? "lost"
                                            : fmt::format("c-{}", saved * 8);
  switch (static_cast<UnwindKind>(rule & kUnwindKindMask)) {
    case UnwindKind::None: return "none";
    case UnwindKind::End: return "end";
    case UnwindKind::Sp: return fmt::format("rsp+{} {}", offset * 8, bp);
    case UnwindKind::Bp: return fmt::format("rbp+{} {}", offset * 8, bp);
    case UnwindKind::BpMemory: return fmt::format("at rbp{:+}", offset * 8);
    case UnwindKind::Plt: return fmt::format("plt {}", offset);
    case UnwindKind::Signal: return "signal";
  }
  return "?";
}

std::string text_of(const std::vector<UnwindRow>& rows) {
  std::string text;
  for (const UnwindRow& row : rows)
    text += fmt::format("{}{:x} {}", text.empty() ? "" : ", ", row.address, text_of(row.rule));
  return text;
}

// --- hand-made ------------------------------------------------------------------------------

void append(std::string& out, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; i++) out += static_cast<char>(value >> (8 * i) & 255);
}

// A CIE as compilers for x86_64 write it (rsp+8, return address below), then FDEs whose addresses
// are relative to where they stand.
class Section {
 public:
  explicit Section(const std::string& letters = "zR",
                   const std::string& initial = "\x0c\x07\x08\x90\x01") {
    std::string body;
    append(body, 0, 4);
    body += '\1' + letters + '\0' + "\x01\x78\x10" + "\x01\x1b" + initial;
    add(body);
  }

  Section& function(uint32_t begin, uint32_t size, const std::string& program) {
    std::string body;
    append(body, bytes_.size() + 4, 4);  // back to the first byte of the section
    append(body, begin - (kAddress + bytes_.size() + 8), 4);
    append(body, size, 4);
    body += '\0' + program;
    add(body);
    return *this;
  }

  const std::string& bytes() const { return bytes_; }
  std::string rows() const {
    return text_of(*parse_eh_frame(std::as_bytes(std::span(bytes_)), kAddress, kX86_64.unwind));
  }

  static constexpr uint32_t kAddress = 0x2000;

 private:
  void add(const std::string& body) {
    append(bytes_, body.size(), 4);
    bytes_ += body;
  }
  std::string bytes_;
};

using namespace std::string_literals;

TEST(UnwindTable, rows_of_functions) {
  struct Case {
    const char* name;
    std::string program;
    std::string rows;
  };
  const Case cases[] = {
      {"nothing happens", ""s, "1000 rsp+8 u, 1010 none"},
      {"push rbp; mov rsp, rbp; leave", "\x41\x0e\x10\x86\x02\x43\x0d\x06\x4a\x0c\x07\x08\xc6"s,
       "1000 rsp+8 u, 1001 rsp+16 c-16, 1004 rbp+16 c-16, 100e rsp+8 u, 1010 none"},
      {"a large frame", "\x44\x0e\x98\x80\x04"s, "1000 rsp+8 u, 1004 rsp+65560 u, 1010 none"},
      {"remembered", "\x41\x0e\x10\x0a\x41\x0e\x18\x41\x0b"s,
       "1000 rsp+8 u, 1001 rsp+16 u, 1002 rsp+24 u, 1003 rsp+16 u, 1010 none"},
      {"advance of one, two and four bytes",
       "\x02\x01\x0e\x10\x03\x01\x00\x0e\x18\x04\x01\x00\x00\x00\x0e\x20"s,
       "1000 rsp+8 u, 1001 rsp+16 u, 1002 rsp+24 u, 1003 rsp+32 u, 1010 none"},
      {"no caller", "\x07\x10"s, "1000 end, 1010 none"},
      {"an entry of the PLT", "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"s,
       "1000 plt 11, 1010 none"},
      {"a realigned stack", "\x44\x0c\x0a\x00\x44\x10\x06\x02\x76\x00\x41\x0f\x03\x76\x78\x06"s,
       "1000 rsp+8 u, 1004 none, 1009 at rbp-8, 1010 none"},
      {"rbp is somewhere", "\x10\x06\x02\x77\x10"s, "1000 rsp+8 lost, 1010 none"},
      {"rbp is far away", "\x86\x10"s, "1000 rsp+8 lost, 1010 none"},
      {"rbp is where the caller is", "\x86\x01"s, "1000 rsp+8 lost, 1010 none"},
      {"an offset that is no word", "\x41\x0e\x0c"s, "1000 rsp+8 u, 1001 none"},
      {"an unknown instruction", "\x44\x3f\x44\x0e\x10"s, "1000 rsp+8 u, 1004 none"},
      {"beyond the end", "\x44\x0e\x10\x7f\x0e\x18"s, "1000 rsp+8 u, 1004 none"},
      {"nothing to restore", "\x44\x0b"s, "1000 rsp+8 u, 1004 none"},
      {"cut in an operand", "\x44\x0e"s, "1000 rsp+8 u, 1004 none"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(Section().function(0x1000, 16, c.program).rows(), c.rows) << c.name;
}

TEST(UnwindTable, functions_are_sorted_and_gaps_have_no_rule) {
  EXPECT_EQ(Section().function(0x1020, 16, "").function(0x1000, 16, "").rows(),
            "1000 rsp+8 u, 1010 none, 1020 rsp+8 u, 1030 none");
  EXPECT_EQ(Section().function(0x1010, 16, "\x0e\x10").function(0x1000, 16, "").rows(),
            "1000 rsp+8 u, 1010 rsp+16 u, 1020 none");
}

TEST(UnwindTable, frames_of_signals) {
  std::string program = "\x0f\x04\x77\xa0\x01\x06\x10\x06\x03\x77\xf8\x00\x10\x10\x03\x77\xa8\x01"s;
  EXPECT_EQ(Section("zRS").function(0x1000, 16, program).rows(), "1000 signal, 1010 none");
}

TEST(UnwindTable, unknown_letters_leave_functions_out) {
  EXPECT_EQ(Section("zRX").function(0x1000, 16, "").rows(), "");
  EXPECT_EQ(Section("eh").function(0x1000, 16, "").rows(), "");
}

TEST(UnwindTable, broken_sections_do_not_crash) {
  std::string good =
      Section().function(0x1000, 64, "\x41\x0e\x10\x86\x02\x43\x0d\x06\x4a\x0c\x07\x08").bytes();
  for (size_t length = 0; length < good.size(); length++)
    (void)parse_eh_frame(std::as_bytes(std::span(good).first(length)), 0, kX86_64.unwind);
  std::mt19937 random(1);
  for (int i = 0; i < 20000; i++) {
    std::string bad = good;
    for (int k = 0; k < 3; k++) bad[random() % bad.size()] = static_cast<char>(random());
    (void)parse_eh_frame(std::as_bytes(std::span(bad)), 0x2000, kX86_64.unwind);
  }
}

std::string problem_of(const std::string& section) {
  Result<std::vector<UnwindRow>> rows =
      parse_eh_frame(std::as_bytes(std::span(section)), 0x2000, kX86_64.unwind);
  return rows ? std::to_string(rows->size()) + " rows" : rows.error().message();
}

TEST(UnwindTable, what_would_take_all_memory_or_time_is_refused) {
  const std::string kTooLong = "its unwind information is too long";
  EXPECT_EQ(
      problem_of(Section().function(0x1000, 9'000'000, std::string(8'500'000, '\x41')).bytes()),
      kTooLong);
  // Every function names another description, each of which is as long as the section.
  std::string many;
  for (uint32_t i = 0; i < 20'000; i++) {
    append(many, 8, 4);
    append(many, many.size() - i, 4);
    append(many, 0, 4);
  }
  EXPECT_EQ(problem_of(many), kTooLong);
  // Descriptions whose texts and numbers do not end.
  for (char endless : {'x', '\x80'}) {
    std::string section;
    append(section, 0x1000000, 4);
    append(section, 0, 4);
    section += "\1zR\0"s + std::string(0x1000000, endless);
    EXPECT_EQ(problem_of(section), "0 rows");
  }
}

// --- real files -----------------------------------------------------------------------------

// Rows as readelf has them, by address; "?" where it prints an expression as such.
std::map<uint64_t, std::string> rows_of_readelf(const std::string& path) {
  std::map<uint64_t, std::string> rows;
  std::FILE* pipe = ::popen(("readelf -W --debug-dump=frames-interp " + path).c_str(), "r");
  if (!pipe) return rows;
  std::vector<std::string> columns;
  bool is_function = false;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe)) {
    std::vector<std::string> words;
    std::istringstream in(line);
    for (std::string word; in >> word;) words.push_back(word);
    if (words.size() > 3 && (words[3] == "CIE" || words[3] == "FDE"))
      is_function = words[3] == "FDE";
    if (!words.empty() && words[0] == "LOC") columns = words;
    if (!is_function) continue;
    if (words.empty() || words[0].size() != 16 || words.size() != columns.size()) continue;
    if (words[0].find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    std::string bp = "u", caller;
    for (size_t i = 2; i < words.size(); i++) {
      if (columns[i] == "rbp") bp = words[i] == "s" ? "u" : words[i];
      if (columns[i] == "ra") caller = words[i];
    }
    std::string rule = words[1] + " " + bp;
    if (words[1].find("exp") != std::string::npos || bp.find("exp") != std::string::npos)
      rule = "?";
    else if (caller == "u")
      rule = "end";
    else if (caller != "c-8" || (!rule.starts_with("rsp+") && !rule.starts_with("rbp+")))
      rule = "none";
    rows[std::stoull(words[0], nullptr, 16)] = rule;
  }
  ::pclose(pipe);
  return rows;
}

void compare_with_readelf(const std::string& path, size_t least) {
  Result<ElfFile> file = ElfFile::open(path);
  ASSERT_TRUE(file);
  std::vector<UnwindRow> rows = *read_unwind_table(*file);
  std::map<uint64_t, std::string> expected = rows_of_readelf(path);
  EXPECT_GE(expected.size(), least);
  size_t wrong = 0;
  for (const auto& [address, rule] : expected) {
    auto after = std::upper_bound(
        rows.begin(), rows.end(), address,
        [](uint64_t wanted, const UnwindRow& row) { return wanted < row.address; });
    std::string found = after == rows.begin() ? "none" : text_of(std::prev(after)->rule);
    if (rule == "?" || found == rule) continue;
    if (wrong++ < 10)
      ADD_FAILURE() << path << " " << std::hex << address << ": " << found << ", readelf has "
                    << rule;
  }
}

// Both are mapped here.
TEST(UnwindTable, real_files_as_readelf_has_them) {
  std::string own = std::filesystem::read_symlink("/proc/self/exe");
  size_t files = 0;
  for (const Mapping& mapping : ProcessFiles(::getpid()).executable_mappings()) {
    if (mapping.path != own && mapping.path.find("/libc.so") == std::string::npos) continue;
    compare_with_readelf(mapping.path, 1000);
    files++;
  }
  EXPECT_GE(files, 1u);
}

}  // namespace
}  // namespace flowtap
