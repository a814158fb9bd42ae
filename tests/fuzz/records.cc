// Bytes of the ring buffer -> rows and texts, by the schemas of a script that sends values of all
// types. Whatever the bytes: JSON stays JSON, CSV stays CSV.

#include "bpf/image.h"
#include "compiler/compile.h"
#include "runtime/actions.h"
#include "small_target.h"
#include "support.h"
#include "three_writers.h"

using namespace flowtap;

static constexpr const char* kScript = R"(
struct point { int x; char name[8]; unsigned a : 3; struct { short s[2]; } in; };
table rows { time T ""; us LAT ""; bytes SIZE ""; int N ""; pid PID ""; port PORT ""; hex H ""; pointer P "";
  bool B ""; errno E ""; tcpstate S ""; ip A ""; comm COMM ""; string TEXT ""; enum tcp_state ENUM "";
  kstack K ""; ustack U ""; }
table words { string TEXT ""; }
table best sorted by N { int N ""; string TEXT ""; }
tracepoint:syscalls:sys_enter_read {
  $p = (struct point *)args.buf;
  printf("%d %u %x %c %p %s|%-5s|%5d %llu %r %rx %rh\n", pid, uid, nsecs, cpu, nsecs, comm, comm, tid, nsecs,
    buf(args.buf, 8), buf(args.buf, 8), buf(args.buf, 8));
  printf("%s %s %s %s\n", str(args.buf, 20), ntop(uid), macaddr(args.buf), strftime("%H:%M:%S", nsecs));
  printf("%s %s %s %s %s\n", ksym(nsecs), usym(nsecs), kstack, ustack, username);
  warnf("w %s", comm); errorf("e %s", comm); time("%Y"); join(args.buf);
  print((1, comm, (uid, str(args.buf, 5)))); print((a = comm, b = -1)); print(kstack(perf, 3)); print(ustack(raw, 2));
  print(ntop(pid)); print(buf(args.buf, 16)); print(*$p); print(TCP_LISTEN); print(true);
  print(strerror(pid)); print(cgroup_path(cgroup));
  emit rows(nsecs, nsecs, nsecs, (int64)nsecs, pid, uid, nsecs, args.buf, true, (int32)pid, pid, ntop(uid), comm, str(args.buf),
    (enum tcp_state)pid, kstack(3), ustack(2));
  emit words(comm); emit words(str(args.buf));
  emit best((int64)nsecs, comm); print(best); print(best, 2);
}
)";

// A script, whose sources messages quote, and its image.
struct Example {
  Script script;
  Compiled compiled;
};

static const Example& example() {
  static const Example made = [] {
    Example example{.script = parse_script({.name = "records.bt", .text = kScript})};
    Diagnostics diagnostics;
    std::optional<Compiled> compiled =
        compile(example.script, fuzz::small_target(), {}, diagnostics);
    for (const Diagnostic& d : diagnostics.all())
      std::fputs(render(d, example.script.sources).c_str(), stderr);
    CHECK(compiled);
    example.compiled = std::move(*compiled);
    return example;
  }();
  return made;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Image& image = example().compiled.image;
  fuzz::Written written =
      fuzz::write_in_all_formats(image.strings, [&](Writer& writer, ValueContext values) {
        std::vector<Fd> maps(image.maps.size());
        Actions actions({.image = image,
                         .sources = example().script.sources,
                         .maps = maps,
                         .writer = writer,
                         .values = values});
        fuzz::Input input(data, size);
        while (!input.empty()) {
          // Most numbers of events mean one, most records are long enough.
          uint32_t event = input.u8(), how = input.u8();
          if (how != 255) event %= static_cast<uint32_t>(image.events.size());
          uint32_t length =
              event < image.events.size() ? image.events[EventId(event)].size : kRecordHeader;
          std::vector<std::byte> record = input.filled(how == 254 ? length - 1 : length);
          if (record.size() >= 4) store<uint32_t>(record, 0, event);
          actions.take(record);
        }
        actions.write_held_rows();
      });
  fuzz::check_json_lines(written.json);
  fuzz::check_csv_blocks(written.csv);
  return 0;
}
