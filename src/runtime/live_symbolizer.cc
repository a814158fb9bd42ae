// Names for addresses, users, cgroups and times; see live_symbolizer.h.
//
// Users come from /etc/passwd itself and not from getpwuid(3): the C library would load modules
// for that, which a static binary cannot. So users of LDAP and the like have no name here.

#include "runtime/live_symbolizer.h"

#include <time.h>

#include <limits>

#include "base/clock.h"
#include "base/text.h"
#include "symbols/demangle.h"

namespace flowtap {
namespace {

int64_t now_ns(clockid_t clock) { return static_cast<int64_t>(clock_ns(clock)); }

// The two clocks cannot be read at once. The reading between the closest pair is the best one.
int64_t distance_to_realtime(clockid_t clock) {
  int64_t best_gap = std::numeric_limits<int64_t>::max(), distance = 0;
  for (int i = 0; i < 8; i++) {
    int64_t before = now_ns(CLOCK_REALTIME);
    int64_t stamp = now_ns(clock);
    int64_t after = now_ns(CLOCK_REALTIME);
    if (after - before >= best_gap) continue;
    best_gap = after - before;
    distance = before + (after - before) / 2 - stamp;
  }
  return distance;
}

// TAI and the wall clock differ by leap seconds; the rest is the error of measuring.
int64_t whole_seconds(int64_t ns) {
  constexpr int64_t second = kSecond;
  return (ns + (ns < 0 ? -second / 2 : second / 2)) / second * second;
}

constexpr size_t kMostDemangledBytes = 32 << 20;

}  // namespace

// Two stamps of one clock must keep their distance in what is printed, so it is not asked each
// time.
LiveSymbolizer::LiveSymbolizer(Options options)
    : options_(std::move(options)),
      from_boot_(distance_to_realtime(CLOCK_BOOTTIME)),
      from_monotonic_(distance_to_realtime(CLOCK_MONOTONIC)),
      from_tai_(whole_seconds(distance_to_realtime(CLOCK_TAI))) {
  if (options_.keeps_one_table) users_.keep_one_table();
}

// Somebody may set the clock meanwhile. Looks once for each second of stamps; what the clock is
// only adjusted by stays unseen.
void LiveSymbolizer::follow_steps(clockid_t clock, uint64_t stamp) {
  constexpr int64_t kStep = 100'000'000;
  if (stamp < looked_at_ + kSecond) return;
  looked_at_ = stamp;
  int64_t& known = clock == CLOCK_BOOTTIME ? from_boot_ : from_monotonic_;
  int64_t step = distance_to_realtime(clock) - known;
  if (step > -kStep && step < kStep) return;
  from_boot_ += step;
  from_monotonic_ += step;
}

void LiveSymbolizer::remember(uint32_t pid) {
  users_.remember(static_cast<pid_t>(pid));
  if (!options_.is_lazy) users_.read_tables(static_cast<pid_t>(pid));
}

std::optional<Symbol> LiveSymbolizer::kernel_symbol(uint64_t address) {
  std::optional<KernelSymbol> found = kernel_.find(address);
  if (!found) return std::nullopt;
  return Symbol{found->name, found->offset, found->module};
}

const std::string& LiveSymbolizer::demangled(const std::string& name) {
  if (!options_.demangles) return name;
  auto found = demangled_.find(name);
  if (found != demangled_.end()) return found->second;
  if (demangled_bytes_ >= kMostDemangledBytes) {
    demangled_.clear();
    demangled_bytes_ = 0;
  }
  const std::string& text = demangled_.emplace(name, flowtap::demangle(name)).first->second;
  demangled_bytes_ += name.size() + text.size();
  return text;
}

std::optional<Symbol> LiveSymbolizer::user_symbol(uint32_t pid, uint64_t address) {
  std::optional<UserSymbol> found = users_.resolve(static_cast<pid_t>(pid), address);
  if (!found) return std::nullopt;
  last_ = std::move(*found);
  return Symbol{demangled(last_.name), last_.offset, last_.module};
}

// root:x:0:0:root:/root:/bin/bash
void LiveSymbolizer::read_passwords() {
  has_passwords_ = true;
  for (const std::string& line : split(read_file(options_.passwords).value_or(""), '\n')) {
    std::vector<std::string> fields = split(line, ':');
    std::optional<int64_t> uid = fields.size() > 2 ? parse_number(fields[2]) : std::nullopt;
    if (uid) user_names_.emplace(static_cast<uint64_t>(*uid), fields[0]);
  }
}

std::string LiveSymbolizer::user_name(uint64_t uid) {
  if (!has_passwords_) read_passwords();
  auto found = user_names_.find(uid);
  return found == user_names_.end() ? std::string() : found->second;
}

std::string LiveSymbolizer::cgroup_path(uint64_t id, std::string_view filter) {
  return cgroups_.find(id, filter);
}

uint64_t LiveSymbolizer::unix_time(uint64_t ns, Clock clock) {
  switch (clock) {
    case Clock::Boot:
      follow_steps(CLOCK_BOOTTIME, ns);
      return ns + static_cast<uint64_t>(from_boot_);
    case Clock::Monotonic:
      follow_steps(CLOCK_MONOTONIC, ns);
      return ns + static_cast<uint64_t>(from_monotonic_);
    case Clock::Tai:
    case Clock::SwTai: return ns + static_cast<uint64_t>(from_tai_);
  }
  return ns;
}

}  // namespace flowtap
