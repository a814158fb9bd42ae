#pragma once
// Losses: what went wrong in the kernel while a script ran, counted there at each site.

#include <span>
#include <string>
#include <vector>

#include "bpf/image.h"
#include "load/load.h"
#include "output/writer.h"
#include "source/source.h"

namespace flowtap {

struct SiteCount {
  uint64_t count = 0;
  int64_t last_code = 0;
};

// A total follows a number that was told before.
enum class Telling { First, Total };
// One line for a site that was hit; `message` of HelperError or runtime_error.
std::string site_message(const Site& site, SiteCount count, Telling telling = Telling::First);

class Losses {
 public:
  struct Input {
    const Image& image;
    const Sources& sources;
    const LoadedImage& loaded;
    Writer& writer;
    bool warns = true;  // false: only lost events are reported
    std::string tool;   // named instead of places in its libraries; empty for a script
  };
  explicit Losses(Input input);

  bool has_sites() const { return !reported_.empty(); }
  // While running: lost events since the last call, and sites hit for the first time.
  void report_new();
  // Calls that a probe let pass; only known while it is attached.
  void note_missed(const AttachPoint& point, uint64_t count);
  // At the end: everything that was not yet said, with final counts. Whether there was anything.
  bool report_all();

 private:
  std::vector<SiteCount> read_sites() const;
  bool report(bool is_end);
  void report_site(const Site& site, SiteCount count, Telling telling);
  bool report_misses();

  Input in_;
  struct Missed {
    const AttachPoint* point;
    uint64_t count;
  };
  std::vector<Missed> missed_;
  std::vector<uint64_t> reported_;  // per site: the count last told
};

}  // namespace flowtap
