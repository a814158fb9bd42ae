#pragma once
// OutputFile: the file of -o or --plot. It is opened before anything else, so that a path that
// cannot be written is reported at once, but keeps what it has until a Sink writes to it.

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace flowtap {

class OutputFile {
 public:
  OutputFile() = default;  // none
  static Result<OutputFile> open(const std::string& path);

  OutputFile(OutputFile&& other) noexcept { *this = std::move(other); }
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();  // one that was made for nothing is removed

  bool valid() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }
  // An empty one now says that there was nothing to write.
  void keep() { is_made_ = false; }
  bool is_same(const OutputFile& other) const;

 private:
  std::string path_;
  Fd fd_;
  bool is_made_ = false;  // by us, and not kept yet
};

}  // namespace flowtap
