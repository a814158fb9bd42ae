#pragma once
// TestDirectory: a directory of a test's own, gone with the test. For tests only.

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"

namespace flowtap {

class TestDirectory {
 public:
  TestDirectory() {
    path_ = std::filesystem::temp_directory_path() / "flowtap_test_XXXXXX";
    CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  // Writes a file, with the directories above it, and says where it is.
  std::string write(const std::string& name, std::string_view content) const {
    std::string file = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    return file;
  }

 private:
  std::string path_;
};

}  // namespace flowtap
