// Losses. Way in: Losses::report_new() while running, report_all() at the end. Programs cannot
// say that the ring buffer is full by writing to it, so each place that can fail owns a counter
// and its last error code in one array map:
//
//   0           8
//   | u64 count | s64 code | next site ...

#include "runtime/losses.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/text.h"
#include "read/map_reader.h"
#include "read/stats.h"
#include "runtime/places.h"

namespace flowtap {
namespace {

constexpr const char* kInside = "another probe was running";

const char* in_all(Telling telling) { return telling == Telling::Total ? " in all" : ""; }

std::string times(uint64_t count, Telling telling) {
  return count == 1 ? "once" : fmt::format("{} times{}", count, in_all(telling));
}

std::string reason(int64_t code) {
  return code < 0 && code > -4096 ? std::strerror(static_cast<int>(-code)) : "no reason given";
}

std::string map_full_message(const Site& site, SiteCount count, Telling telling) {
  std::string updates = counted(count.count, "update");
  if (count.last_code == 0 || count.last_code == -EEXIST)
    return fmt::format("map '{}' lost {}{}: the key was removed at that moment", site.subject,
                       updates, in_all(telling));
  if (count.last_code != -E2BIG)
    return fmt::format("map '{}' refused {}{}: {}", site.subject, updates, in_all(telling),
                       reason(count.last_code));
  return fmt::format("map '{}' is full: {} lost{}; raise the limit, e.g. --max-keys 50000",
                     site.subject, updates, in_all(telling));
}

// The subject is a plural: "completions".
std::string pair_message(const Site& site, uint64_t count, Telling telling) {
  std::string what = site.subject;
  if (count != 1)
    return fmt::format("{} {}{} were not seen: their keys were used again", count, what,
                       in_all(telling));
  if (what.ends_with('s')) what.pop_back();
  return fmt::format("1 {} was not seen: its key was used again", what);
}

// The helper behind a site, for the second line of the report; empty for none.
std::string_view helper_of(const Site& site) {
  switch (site.kind) {
    case SiteKind::MapFull: return "map_update_elem";
    case SiteKind::KeyMissing: return "map_lookup_elem";
    case SiteKind::HelperFailed: return site.subject;
    default: return {};
  }
}

}  // namespace

std::string site_message(const Site& site, SiteCount count, Telling telling) {
  std::string often = times(count.count, telling);
  switch (site.kind) {
    case SiteKind::RingbufFull:
      return counted(count.count, "record") + " lost: the ring buffer was full";
    case SiteKind::ActionLost:
      return fmt::format("{} was lost {}: the ring buffer was full", site.subject, often);
    case SiteKind::MapFull: return map_full_message(site, count, telling);
    case SiteKind::DivisionByZero:
      return fmt::format("division by zero, {}; 1 was taken as the result", often);
    case SiteKind::IndexOutside:
      return fmt::format("an index was outside of '{}', {} (last: {}); 0 was taken", site.subject,
                         often, count.last_code);
    case SiteKind::HelperFailed:
      return fmt::format("'{}' failed {}: {}", site.subject, often, reason(count.last_code));
    case SiteKind::KeyMissing:
      return fmt::format("map '{}' did not have the key, {}; 0 was taken", site.subject, often);
    case SiteKind::LoopLimit: return fmt::format("a loop was stopped at its limit, {}", often);
    case SiteKind::StringCut: return fmt::format("a {} was cut, {}", site.subject, often);
    case SiteKind::StackLost:
      return fmt::format("a stack could not be taken, {}: {}", often, reason(count.last_code));
    case SiteKind::TablesMissing:
      return fmt::format(
          "a stack was taken by frame pointers, {}: the unwind tables of the process were not "
          "there "
          "yet",
          often);
    case SiteKind::PairLost: return pair_message(site, count.count, telling);
    case SiteKind::StackCut:
      return fmt::format("a stack ends early, {}: no unwind table tells the caller", often);
  }
  return {};
}

Losses::Losses(Input input) : in_(std::move(input)) {
  bool has_map =
      in_.image.site_map >= 0 && in_.loaded.maps[static_cast<size_t>(in_.image.site_map)].valid();
  if (has_map) reported_.resize(in_.image.sites.size());
}

std::vector<SiteCount> Losses::read_sites() const {
  std::vector<SiteCount> sites(reported_.size());
  if (sites.empty()) return sites;
  size_t number = static_cast<size_t>(in_.image.site_map);
  Result<MapData> data = read_map(in_.loaded.maps[number].get(), in_.image.maps[number]);
  if (!data) return sites;
  for (size_t i = 0; i < sites.size() && (i + 1) * kSiteSize <= data->values.size(); i++)
    sites[i] = {.count = load<uint64_t>(data->values, i * kSiteSize),
                .last_code = load<int64_t>(data->values, i * kSiteSize + 8)};
  return sites;
}

void Losses::report_site(const Site& site, SiteCount count, Telling telling) {
  ScriptPlace at(in_.sources, site.span);
  // Lines of a library mean nothing to who runs a tool.
  Place place = in_.tool.empty() || site.span.file == 0 ? at.place() : Place{.file = in_.tool};
  std::string message = site_message(site, count, telling);
  std::string_view helper = helper_of(site);
  if (helper.empty())
    in_.writer.runtime_error(place, message);
  else
    in_.writer.helper_error(place, {.message = message, .helper = helper, .code = count.last_code});
}

bool Losses::report(bool is_end) {
  std::vector<SiteCount> sites = read_sites();
  uint64_t lost = 0;
  bool has_said = false;
  for (size_t i = 0; i < sites.size(); i++) {
    const Site& site = in_.image.sites[i];
    uint64_t fresh = sites[i].count - reported_[i];
    if (fresh == 0) continue;
    bool is_action = site.kind == SiteKind::ActionLost;
    bool is_lost_event = is_action || site.kind == SiteKind::RingbufFull;
    if (is_lost_event) lost += fresh;
    // While running one warning per site is enough.
    bool is_said = in_.warns && (is_action || (!is_lost_event && (is_end || reported_[i] == 0)));
    if (is_said) report_site(site, sites[i], reported_[i] > 0 ? Telling::Total : Telling::First);
    has_said |= is_said;
    if (is_lost_event || is_said) reported_[i] = sites[i].count;
  }
  if (lost > 0) in_.writer.lost_events(lost);
  return has_said || lost > 0;
}

void Losses::report_new() { report(false); }

bool Losses::report_all() {
  bool has_said = report(true);
  return (in_.warns && report_misses()) || has_said;
}

void Losses::note_missed(const AttachPoint& point, uint64_t count) {
  if (count > 0) missed_.push_back({&point, count});
}

// The kernel does not run a program on a CPU where it is running already, nor a tracing program
// inside another one of its kind.
bool Losses::report_misses() {
  bool has_said = false;
  for (size_t i = 0; i < in_.loaded.programs.size(); i++) {
    Result<ProgramStats> stats = read_stats(in_.loaded.programs[i].get());
    const Program& program = in_.image.programs[i];
    if (!stats || stats->recursion_misses == 0 || program.attach.empty()) continue;
    ScriptPlace at(in_.sources, program.attach[0].span);
    std::string message =
        fmt::format("{} of '{}' missed: {}", counted(stats->recursion_misses, "event"),
                    program.attach[0].name, kInside);
    in_.writer.runtime_error(at.place(), message);
    has_said = true;
  }
  for (const Missed& missed : missed_) {
    ScriptPlace at(in_.sources, missed.point->span);
    bool is_return = probe_row(missed.point->kind).has(kHasRetval);
    std::string message =
        fmt::format("{} of '{}' missed: {}", counted(missed.count, "event"), missed.point->name,
                    is_return ? "too many calls were under way at once" : kInside);
    in_.writer.runtime_error(at.place(), message);
  }
  return has_said || !missed_.empty();
}

}  // namespace flowtap
