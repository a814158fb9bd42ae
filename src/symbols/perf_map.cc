// Finding and reading perf maps; see perf_map.h. Entry points: find_perf_map(), read_perf_map().
//
// Nobody deletes these files, so that one of an earlier process of the same number is common.

#include "symbols/perf_map.h"

#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"

namespace flowtap {

// A large Java server writes some 10 MB.
static constexpr uint64_t kMostPerfMapBytes = 64 << 20;

// Files get the time of the last tick of the clock, which may be before that of the process.
static constexpr int64_t kToleranceNs = 2'000'000'000;

static bool is_older(const struct stat& info, uint64_t started) {
  int64_t ticks = ::sysconf(_SC_CLK_TCK);
  if (started == 0 || ticks <= 0) return false;
  int64_t since_boot_ns = static_cast<int64_t>(started) * (1'000'000'000 / ticks);
  int64_t now_ns = static_cast<int64_t>(clock_ns(CLOCK_REALTIME));
  int64_t boot_ns = now_ns - static_cast<int64_t>(clock_ns(CLOCK_BOOTTIME));
  int64_t written_ns = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  return written_ns + kToleranceNs < boot_ns + since_boot_ns;
}

static Error not_used(const std::string& path, const std::string& why) {
  return Error{"the perf map '" + path + "' is not used: " + why};
}
static Error not_used(const Error& error) {  // which names the file
  return Error{"a perf map is not used: " + error.message()};
}

// Empty when it is to be believed.
static std::string doubt(const ForeignFile& file, const PerfMapOwner& owner) {
  uid_t uid = file.info().st_uid;
  std::string pid = std::to_string(owner.pid);
  if (uid != 0 && uid != owner.status.uid)
    return "it belongs to user " + std::to_string(uid) + ", not to that of process " + pid;
  if (is_older(file.info(), owner.started)) return "it is older than process " + pid;
  return {};
}

Result<std::optional<ForeignFile>> find_perf_map(const PerfMapOwner& owner,
                                                 const std::string& proc) {
  ProcessFiles files(owner.pid, proc);
  std::string inside = "/tmp/perf-" + std::to_string(owner.status.inner_pid) + ".map";
  std::optional<Error> refused;
  for (const std::string& path :
       {files.path_from_here(inside), "/tmp/perf-" + std::to_string(owner.pid) + ".map"}) {
    Result<ForeignFile> file = ForeignFile::open(path, Links::Refuse);
    if (!file && (file.error().code == ENOENT || file.error().code == ENOTDIR)) continue;
    std::string why = file ? doubt(*file, owner) : "";
    if (file && why.empty()) return std::optional(std::move(*file));
    if (!refused) refused = file ? not_used(path, why) : not_used(file.error());
  }
  if (refused) return *refused;
  return std::optional<ForeignFile>();
}

Result<SymbolTable> read_perf_map(const ForeignFile& file) {
  Result<std::vector<char>> text = file.read_all(kMostPerfMapBytes);
  if (!text) return not_used(text.error());
  Result<SymbolTable> table = SymbolTable::from_perf_map({text->data(), text->size()});
  if (!table) return not_used(file.path(), table.error().message());
  return table;
}

}  // namespace flowtap
