#include "base/directory.h"

#include <gtest/gtest.h>

#include "base/test_directory.h"

namespace flowtap {
namespace {

TEST(Directory, names_are_sorted) {
  TestDirectory directory;
  directory.write("b", "");
  directory.write("a", "");
  Result<std::vector<std::string>> names = names_in(directory.path());
  ASSERT_TRUE(names);
  EXPECT_EQ(*names, (std::vector<std::string>{"a", "b"}));
}

TEST(Directory, what_is_no_directory_is_an_error) {
  Result<std::vector<std::string>> names = names_in("/no/such/place");
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().message(), "cannot read '/no/such/place': No such file or directory");
  EXPECT_EQ(names_in("/dev/null").error().code, ENOTDIR);
}

TEST(Directory, real_path_has_no_links) {
  EXPECT_EQ(real_path("/usr/../usr/./bin/.."), "/usr");
  EXPECT_EQ(real_path("/no/such/../place"), "/no/such/../place");
}

}  // namespace
}  // namespace flowtap
