// A hand-made cache, cut short everywhere, and the one of this machine.

#include "symbols/linker_cache.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/text.h"

namespace flowtap {
namespace {

struct TestLibrary {
  uint32_t flags;
  const char *name, *path;
};

std::string make_cache(const std::vector<TestLibrary>& libraries) {
  std::string header = "glibc-ld.so.cache1.1", entries, strings;
  auto append_number = [](std::string& to, uint32_t value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  append_number(header, static_cast<uint32_t>(libraries.size()));
  header.resize(48);
  uint32_t strings_at = static_cast<uint32_t>(48 + 24 * libraries.size());
  for (const TestLibrary& library : libraries) {
    append_number(entries, library.flags);
    for (const char* text : {library.name, library.path}) {
      append_number(entries, strings_at + static_cast<uint32_t>(strings.size()));
      strings.append(text).push_back('\0');
    }
    entries.append(12, '\0');
  }
  return header + entries + strings;
}

std::string show(std::string_view content) {
  std::string text;
  for (const CachedLibrary& library : parse_linker_cache(content))
    text += library.name + "=" + library.path + " ";
  return text;
}

TEST(LinkerCache, keeps_the_libraries_of_this_machine) {
  std::string cache = make_cache({{0x0303, "libc.so.6", "/lib/libc.so.6"},
                                  {0x0803, "libc.so.6", "/libx32/libc.so.6"},
                                  {0x0303, "libz.so.1", "/lib/libz.so.1"}});
  EXPECT_EQ(show(cache), "libc.so.6=/lib/libc.so.6 libz.so.1=/lib/libz.so.1 ");
  EXPECT_EQ(show("ld.so-1.7.0, an older cache before it" + cache), show(cache));
}

TEST(LinkerCache, nothing_comes_of_garbage) {
  EXPECT_EQ(show(""), "");
  EXPECT_EQ(show("glibc-ld.so.cache1.1"), "");
  EXPECT_EQ(show("#!/bin/sh"), "");
  std::string cache = make_cache({{0x0303, "libc.so.6", "/lib/libc.so.6"}});
  for (size_t length = 0; length < cache.size(); length++)
    EXPECT_EQ(show(std::string_view(cache).substr(0, length)), "") << length;
  // A name far outside of the file.
  std::memset(cache.data() + 52, 0xff, 4);
  EXPECT_EQ(show(cache), "");
}

TEST(LinkerCache, a_short_name_means_every_version) {
  struct {
    const char *library, *wanted;
    bool expected;
  } const cases[] = {
      {"libc.so.6", "libc", true},           {"libc.so.6", "libc.so", true},
      {"libc.so.6", "libc.so.6", true},      {"libc.so", "libc", true},
      {"libcrypt.so.1", "libc", false},      {"libc.so.6", "libc.so.5", false},
      {"libc++.so.1", "libc", false},        {"libc.so.6", "c", false},
      {"libstdc++.so.6", "libstdc++", true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(is_library_named(c.library, c.wanted), c.expected) << c.library << " " << c.wanted;
}

TEST(LinkerCache, this_machine_has_a_c_library) {
  std::optional<std::string> content = read_file("/etc/ld.so.cache");
  if (!content || content->find("glibc-ld.so.cache1.1") == std::string::npos)
    GTEST_SKIP() << "no cache of this format here";
  bool has_libc = false;
  for (const CachedLibrary& library : parse_linker_cache(*content))
    has_libc |= is_library_named(library.name, "libc");
  EXPECT_TRUE(has_libc);
}

}  // namespace
}  // namespace flowtap
