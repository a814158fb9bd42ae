// Actions. Way in: Actions::take(), with a record as drawn in bpf/image.h. A record whose number
// or size is wrong is counted and left: bytes from the kernel never decide what memory we touch.

#include "runtime/actions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "output/decode.h"
#include "output/printf.h"
#include "output/time_format.h"
#include "read/map_reader.h"
#include "runtime/map_output.h"
#include "runtime/places.h"
#include "runtime/shell.h"

namespace flowtap {
namespace {

FormatCall call_of(const Event& event, Bytes record) {
  return {.format = event.format, .args = event.args, .record = record};
}

int64_t int_argument(const Event& event, size_t number, Bytes record, int64_t otherwise) {
  if (number >= event.args.size()) return otherwise;
  const Field& arg = event.args[number];
  return load_int(field_bytes(arg, record), arg.type->size, arg.type->is_signed);
}

Result<std::string> read_start(const std::string& path, uint64_t limit) {
  // A pipe that nobody writes to must not stop us: traced programs choose names.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return errno_error(fmt::format("cannot open '{}' for cat()", path));
  struct stat info;
  if (::fstat(fd.get(), &info) == 0 && S_ISFIFO(info.st_mode))
    return Error{fmt::format("cannot read '{}' for cat(): it is a pipe", path)};
  std::string text;
  char part[4096];
  while (text.size() < limit) {
    ssize_t length = ::read(fd.get(), part, std::min<uint64_t>(sizeof part, limit - text.size()));
    if (length < 0) return errno_error(fmt::format("cannot read '{}' for cat()", path));
    if (length == 0) break;
    text.append(part, static_cast<size_t>(length));
  }
  return text;
}

}  // namespace

bool Actions::take(Bytes record) {
  if (is_dropping_) return false;
  uint32_t number = record.size() >= kRecordHeader ? load<uint32_t>(record) : UINT32_MAX;
  bool is_known = number < in_.image.events.size();
  if (!is_known || record.size() < in_.image.events[EventId(number)].size) {
    bad_records_++;
    return false;
  }
  const Event& event = in_.image.events[EventId(number)];
  run(event, record);
  return event.kind == EventKind::System && !leaves_commands_;
}

void Actions::leave() {
  has_left_ = true;
  is_dropping_ = true;
}

void Actions::run(const Event& event, Bytes record) {
  switch (event.kind) {
    case EventKind::Printf: in_.writer.printf(call_of(event, record)); break;
    case EventKind::Errorf:
    case EventKind::Warnf: message(event, record); break;
    case EventKind::Time: time(event.text); break;
    case EventKind::Cat: cat(event, record); break;
    case EventKind::Join: join(event, record); break;
    case EventKind::System: system(event, record); break;
    case EventKind::PrintValue:
      in_.writer.value(event.args.at(0).type, field_bytes(event.args[0], record));
      break;
    case EventKind::Row: row(event, record); break;
    case EventKind::PrintTable: print_table(event, record); break;
    case EventKind::PrintMap: print_map(event, record); break;
    case EventKind::ClearMap:
    case EventKind::ZeroMap: change_map(event); break;
    case EventKind::Exit: leave(); break;
    case EventKind::Unwatch: unwatch(event, record); break;
    case EventKind::Process:
      in_.values.symbolizer.remember(load<uint32_t>(record, event.args.at(0).offset));
      break;
    case EventKind::Unwind:
      if (in_.unwind)
        in_.unwind(load<pid_t>(record, event.args.at(0).offset),
                   {.stack_start = load<uint64_t>(record, event.args.at(1).offset),
                    .code_end = load<uint64_t>(record, event.args.at(2).offset)});
      break;
    case EventKind::SkbOutput: capture(event, record); break;
  }
}

void Actions::failed(const Event& event, const Error& error) {
  errors_++;
  ScriptPlace at(in_.sources, event.span);
  in_.writer.runtime_error(at.place(), error.message());
}

std::string Actions::formatted(const Event& event, Bytes record) const {
  std::string text;
  append_printf(text, call_of(event, record), in_.values);
  return text;
}

void Actions::message(const Event& event, Bytes record) {
  ScriptPlace at(in_.sources, event.span);
  if (event.kind == EventKind::Warnf) {
    if (!in_.warns) return;
    in_.writer.warnf(at.place(), call_of(event, record));
    return;
  }
  errors_++;
  in_.writer.errorf(at.place(), call_of(event, record));
}

void Actions::time(std::string_view format) {
  std::string text;
  append_time(text, clock_ns(CLOCK_REALTIME), format);
  in_.writer.time(text);
}

void Actions::write_time() { time("%H:%M:%S\n"); }

void Actions::cat(const Event& event, Bytes record) {
  Result<std::string> content = read_start(formatted(event, record), in_.max_cat_bytes);
  if (!content)
    failed(event, content.error());
  else
    in_.writer.cat(*content);
}

// The strings stand in an array of fixed length; the first empty one ends the list.
void Actions::join(const Event& event, Bytes record) {
  const Field& list = event.args.at(0);
  uint32_t size = list.type->element->size;
  std::string text;
  for (uint32_t i = 0; i < list.type->count; i++) {
    Bytes bytes = record.subspan(list.offset + i * size, size);
    DecodedString word = decode_string(bytes, size);
    if (word.text.empty()) break;
    if (i > 0) text += event.text;
    text += word.text;
  }
  in_.writer.join(text);
}

// The command may write to the terminal itself, so what came before it goes first.
void Actions::system(const Event& event, Bytes record) {
  if (leaves_commands_) {
    commands_left_++;
    return;
  }
  std::string command = formatted(event, record);
  in_.writer.flush();
  Result<std::string> output = run_shell(command);
  if (!output)
    failed(event, output.error());
  else
    in_.writer.system(*output);
}

void Actions::row(const Event& event, Bytes record) {
  const Table& table = in_.image.tables[event.table];
  if (table.sorted_by < 0)
    in_.writer.row({table, event.args, record});
  else
    held_.add(event, record);
}

// The checker refuses such numbers where it knows them.
static Status check_view(int64_t top, int64_t div) {
  if (top < 0) return Error{fmt::format("the top of print() must be 0 or more, found {}", top)};
  if (div < 1) return Error{fmt::format("the divisor of print() must be 1 or more, found {}", div)};
  return Done{};
}

void Actions::print_map(const Event& event, Bytes record) {
  size_t map = static_cast<size_t>(event.map);
  int64_t top = int_argument(event, 0, record, 0), div = int_argument(event, 1, record, 1);
  if (Status right = check_view(top, div); !right) return failed(event, right.error());
  MapView view{
      .top = static_cast<uint64_t>(top), .div = static_cast<uint64_t>(div), .takes = event.takes};
  Status written = write_map({in_.image, in_.maps}, map, view, {in_.writer, in_.values});
  if (!written) failed(event, written.error());
}

void Actions::print_table(const Event& event, Bytes record) {
  int64_t top = int_argument(event, 0, record, 0);
  if (Status right = check_view(top, 1); !right) return failed(event, right.error());
  held_.write(event.table, static_cast<uint64_t>(top));
}

void Actions::change_map(const Event& event) {
  size_t map = static_cast<size_t>(event.map);
  if (!in_.maps[map].valid()) return;
  Status changed = event.kind == EventKind::ClearMap ? empty_map({in_.image, in_.maps}, map)
                                                     : zero_values({in_.image, in_.maps}, map);
  if (!changed) failed(event, changed.error());
}

void Actions::capture(const Event& event, Bytes record) {
  uint64_t ns = static_cast<uint64_t>(int_argument(event, 0, record, 0));
  uint64_t length = static_cast<uint64_t>(int_argument(event, 1, record, 0));
  Bytes packet = decode_buffer(event.args.at(2).type, field_bytes(event.args[2], record));
  Status written =
      captures_.add(event.text, {in_.values.symbolizer.unix_time(ns, Clock::Boot), length, packet});
  if (!written) failed(event, written.error());
}

void Actions::unwatch(const Event& event, Bytes record) {
  if (in_.unwatch) in_.unwatch(static_cast<uint64_t>(int_argument(event, 0, record, 0)));
}

}  // namespace flowtap
