// Attaching to kernel functions. Ways in: attach_kprobe() and attach_trampoline() for one place,
// attach_kprobes() for many.
//
// A wildcard can stand for thousands of functions. A link of type kprobe_multi takes them all in
// one call. Kernels without it want a perf event for each; making one means waiting for the other
// CPUs, so several threads wait side by side. They are made by address, since Linux 6.1 searches
// its whole symbol table for a name.

#include <bpf/bpf.h>

#include <algorithm>
#include <mutex>

#include "attach/attach_kinds.h"
#include "base/parallel.h"
#include "kernel/kprobe_multi.h"
#include "kernel/replacement.h"
#include "privileges/rights.h"
#include "symbols/kallsyms.h"

namespace flowtap {
namespace {

constexpr size_t kMostAttachers = 16;

bool is_in_module(const AttachPoint& point) {
  return !point.target.empty() && point.target != "vmlinux";
}

// A fexit may have been made as a kretprobe.
bool is_return(const AttachPoint& point) { return probe_row(point.kind).has(kHasRetval); }

// What the kernel means by its numbers here is not what they say.
Error function_error(const AttachRequest& request, int code, const std::string& hint = "") {
  const std::string& name = request.point.function;
  std::string what = request.what();
  bool is_refused = code == ENOENT || code == EINVAL || code == EBUSY || code == EADDRNOTAVAIL;
  std::string other = is_refused ? hint_for_function(name) : "";
  std::string neighbour =
      other.empty() ? "trace a function that it calls, or that calls it" : other;
  switch (code) {
    case ENOENT:
      return {fmt::format("{}: there is no kernel function '{}'", what, name), 0,
              other.empty() ? fmt::format("list those with a similar name: -l 'kprobe:*{}*'", name)
                            : other};
    case EILSEQ:
      return {fmt::format("{}: no instruction of '{}' begins at this offset", what, name)};
    case EADDRNOTAVAIL:
      return {fmt::format("{}: several functions are called '{}'", what, name), 0,
              !other.empty()
                  ? other
                  : fmt::format("'kprobe:*:{0}' takes them all, 'kprobe:module:{0}' that of "
                                "a module",
                                name)};
    case EINVAL:
      return {fmt::format("{}: the kernel forbids probes in '{}'", what, name), 0, neighbour};
    case EBUSY:
      return {fmt::format("{}: '{}' was built without what fentry needs", what, name), 0,
              neighbour};
    case EPERM: return {what, code, permission_hint()};
    default: return {what, code, hint};
  }
}

Result<Attachment> attach_by_event(const AttachRequest& request) {
  const AttachPoint& point = request.point;
  Result<uint32_t> type = perf_source_type("kprobe");
  if (!type) {
    std::string other = hint_for_function(point.function);
    return Error{request.what() + ": " + type.error().what, 0,
                 other.empty() ? type.error().hint : other};
  }
  perf_event_attr attr = new_perf_attr(*type, is_return(point) ? kPerfReturnProbe : 0);
  std::string name =
      is_in_module(point) ? fmt::format("{}:{}", point.target, point.function) : point.function;
  if (point.kernel_address) {
    attr.kprobe_addr = *point.kernel_address;
  } else {
    attr.kprobe_func = reinterpret_cast<uint64_t>(name.c_str());
    attr.probe_offset = point.offset;
  }
  Result<Attachment> attachment = attach_perf_event(request, attr, anywhere());
  // Linux 6.6 and 6.7 look for the name with its module and do not find it.
  bool is_lost = !attachment && attachment.error().code == ENOENT && is_in_module(point);
  if (is_lost) {
    attr.kprobe_func = reinterpret_cast<uint64_t>(point.function.c_str());
    attachment = attach_perf_event(request, attr, anywhere());
  }
  if (!attachment) return function_error(request, attachment.error().code, attachment.error().hint);
  return attachment;
}

std::vector<std::string> symbol_names(std::span<const AttachPoint* const> points) {
  std::vector<std::string> names;
  for (const AttachPoint* point : points)
    names.push_back(is_in_module(*point) ? fmt::format("{} [{}]", point->function, point->target)
                                         : point->function);
  return names;
}

// Nothing for those that the symbol table does not have, or hides.
std::vector<std::optional<uint64_t>> find_addresses(std::span<const AttachPoint* const> points) {
  std::vector<std::vector<uint64_t>> all = KernelSymbols().addresses_of(symbol_names(points));
  std::vector<std::optional<uint64_t>> found(points.size());
  for (size_t i = 0; i < points.size(); i++) {
    size_t which = static_cast<size_t>(std::max(points[i]->namesake, 0));
    if (which < all[i].size()) found[i] = all[i][which];
  }
  return found;
}

// Names that stand for one function each go by name; the kernel would find only the first of
// several that share one, so those go by address.
Result<Attachment> attach_by_link(const AttachRequest& request,
                                  std::span<const AttachPoint* const> points) {
  std::vector<const char*> names;
  std::vector<const AttachPoint*> namesakes;
  for (const AttachPoint* point : points) {
    if (point->namesake < 0)
      names.push_back(point->function.c_str());
    else
      namesakes.push_back(point);
  }
  std::vector<uint64_t> addresses;
  if (!namesakes.empty())
    for (std::optional<uint64_t> address : find_addresses(namesakes))
      if (address) addresses.push_back(*address);

  Attachment attachment;
  auto link = [&](const KprobeMulti& probes) {
    Fd fd = link_kprobe_multi(request.fd, probes);
    if (!fd.valid()) return false;
    attachment.links.push_back(std::move(fd));
    return true;
  };
  bool is_done = names.empty() || link({.names = names, .is_return = is_return(request.point)});
  is_done = is_done && (addresses.empty() ||
                        link({.addresses = addresses, .is_return = is_return(request.point)}));
  if (!is_done) return function_error(request, errno == ESRCH ? ENOENT : errno);
  return attachment;
}

Result<Attachment> attach_by_events(const AttachRequest& request,
                                    std::span<const AttachPoint* const> points) {
  std::vector<std::optional<uint64_t>> addresses = find_addresses(points);
  std::mutex mutex;
  Attachment all;
  std::optional<Error> failure;
  size_t count = std::min(points.size(), kMostAttachers);
  in_parallel(count, [&](size_t first) {
    for (size_t i = first; i < points.size(); i += count) {
      AttachPoint point = *points[i];
      if (addresses[i]) point.kernel_address = *addresses[i] + point.offset;
      Result<Attachment> one =
          attach_by_event({request.program, point, request.fd, request.options});
      std::lock_guard<std::mutex> lock(mutex);
      if (!one) failure = one.error();
      if (failure) return;
      std::move(one->links.begin(), one->links.end(), std::back_inserter(all.links));
      std::move(one->events.begin(), one->events.end(), std::back_inserter(all.events));
    }
  });
  if (failure) return *failure;
  return all;
}

}  // namespace

Result<Attachment> attach_kprobe(const AttachRequest& request) {
  const AttachPoint* points[] = {&request.point};
  return attach_kprobes(request, points);
}

Result<Attachment> attach_kprobes(const AttachRequest& request,
                                  std::span<const AttachPoint* const> points) {
  if (request.options.kprobe_multi && is_for_many_functions(request.program))
    return attach_by_link(request, points);
  bool is_sure = points.size() == 1 && points[0]->namesake < 0;
  return is_sure ? attach_by_event(request) : attach_by_events(request, points);
}

Result<Attachment> attach_trampoline(const AttachRequest& request) {
  Attachment attachment;
  Fd link(::bpf_raw_tracepoint_open(nullptr, request.fd));
  if (!link.valid()) return function_error(request, errno);
  attachment.links.push_back(std::move(link));
  return attachment;
}

}  // namespace flowtap
