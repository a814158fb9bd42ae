#pragma once
// The image: everything the compiler made of a script, as plain data. The loader turns it into
// kernel objects, the runtime reads records and maps by it; neither sees the AST or the IR.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "bpf/insn.h"
#include "builtins/probes.h"
#include "source/source.h"
#include "types/format.h"
#include "types/plot.h"
#include "types/table.h"
#include "types/type.h"

namespace flowtap {

// --- maps -------------------------------------------------------------------------------------
enum class MapType : uint8_t {
  Hash,
  LruHash,
  PercpuHash,
  PercpuLruHash,
  Array,
  PercpuArray,
  Ringbuf,
  TaskStorage,    // a value per thread, freed with it
  ArrayOfArrays,  // each of one value, made and put in at run time; value_size is that of these
};

struct MapDef {
  std::string name;  // "@x" for the script's maps, a word for our own ("scratch", "events")
  MapType type = MapType::Hash;
  uint32_t key_size = 0;
  uint32_t value_size = 0;
  uint32_t max_entries = 0;
  bool no_prealloc = false;
  // Not 0: a value of a plain map consists of lanes of so many bytes, one for each CPU or, where
  // there are many CPUs, a power of two that several CPUs share.
  uint32_t lane = 0;
  // Maps without keys: a byte that stands for the key. Some byte of the value is not 0 once a
  // script stored something, and if that is a 0 or a zero(), it is this one.
  std::optional<uint32_t> written_at;
  int whole_keys = -1;     // index into maps: where the keys are that this one has as digests only
  int hot_keys = -1;       // likewise: where its hot keys are counted; see types/hot_keys.h
  bool is_mapped = false;  // into flowtap's memory, which writes values there
  bool is_dumped = false;  // no map: a program writes the entries when they are printed; see Dump
  std::string initial;     // array maps: bytes of the first value; empty for zeros

  bool is_script_map = false;
  Type key;    // script maps: what the key bytes are; null for a scalar map
  Type value;  // script maps: what the value bytes are
};

// Lanes keep CPUs out of each other's cache lines, and off those of the key, which all of them
// read:
//   | spare | CPU 0 | CPU 1 | ...
inline constexpr uint32_t kCacheLine = 64;
inline uint32_t lane_offset(const MapDef& map, uint32_t n) { return kCacheLine + n * map.lane; }
inline uint32_t count_lanes(const MapDef& map) {
  return map.lane ? (map.value_size - kCacheLine) / map.lane : 0;
}

// A large key is stored as a digest of this length.
inline constexpr uint32_t kKeyDigestSize = 16;

inline bool is_per_cpu(MapType type) {
  return type == MapType::PercpuHash || type == MapType::PercpuLruHash ||
         type == MapType::PercpuArray;
}

// --- records ----------------------------------------------------------------------------------
// A record on the ring buffer:
//   0        4        8
//   | event  | spare  | fields, each at the offset in Event::args ... |
// where `event` is the index into Image::events.
inline constexpr uint32_t kRecordHeader = 8;

enum class EventKind : uint8_t {
  Printf,
  Errorf,
  Warnf,
  Time,
  Cat,
  Join,
  System,
  PrintValue,  // args[0] is the value
  PrintMap,    // map; top and div are args[0] and args[1] when present
  ClearMap,
  ZeroMap,
  Exit,  // what follows is dropped; the code is in the exit cell
  SkbOutput,
  Unwatch,
  Row,         // of a table; args are its values
  PrintTable,  // args[0] is how many rows, when present
  Process,     // args[0] is a process whose symbols will be asked for: look at it while it lives
  Unwind,      // args: process, start of its stack, end of its code; its unwind tables are wanted
};

using EventId = Id<struct EventTag>;  // what a record begins with
using TableId = Id<struct TableTag>;

struct Event {
  EventKind kind = EventKind::Printf;
  Span span;
  std::vector<FormatPiece>
      format;               // Printf, Errorf, Warnf, Cat, System; Time keeps its text in `text`
  std::vector<Field> args;  // offsets count from the start of the record
  std::string text;         // Time: strftime format; Join: separator
  int map = -1;             // index into Image::maps
  bool takes = false;       // PrintMap: what is printed is removed
  TableId table;            // Row, PrintTable
  uint32_t size = kRecordHeader;  // whole record
};

// --- things that went wrong at run time --------------------------------------------------------
// Each place that can fail owns one entry of the "sites" array map: { u64 count; s64 last_code; }.
enum class SiteKind : uint8_t {
  RingbufFull,  // a record was lost
  ActionLost,   // the same, of one that asks for something: print(@map), clear()...
  MapFull,      // an update was refused
  DivisionByZero,
  IndexOutside,
  HelperFailed,  // with -k only
  KeyMissing,    // with -k only
  LoopLimit,
  StringCut,
  StackLost,
  TablesMissing,  // frame pointers were followed since unwind tables were not there yet
  StackCut,       // at code of which no table tells the caller
  PairLost,       // something began again, and its end had not been seen
};
inline constexpr uint32_t kSiteSize = 16;

struct Site {
  SiteKind kind = SiteKind::RingbufFull;
  Span span;
  std::string subject;  // the helper's or map's name, the array's type
};

// --- the end ----------------------------------------------------------------------------------
// The value of the "exit" array map: | u64 called | s64 code |. The first call sets both.
inline constexpr uint32_t kExitCalled = 0, kExitCode = 8, kExitCellSize = 16;

// --- programs ---------------------------------------------------------------------------------
// One place to attach to, fully resolved: no wildcard is left.
struct AttachPoint {
  ProbeKind kind = ProbeKind::Begin;
  std::string name;        // as `probe` prints it: "tracepoint:syscalls:sys_enter_read"
  std::string target;      // tracepoint category, kernel module, binary path
  std::string function;    // event, function, USDT name
  std::string provider;    // USDT provider
  std::string self_event;  // self: "report" or "signal"
  std::string pin;         // iter: the file in bpffs that runs it; empty: it is run at once
  int namesake = -1;       // which of the functions of this name in `target`; -1: there is one only
  uint64_t offset = 0;     // function+offset
  uint64_t address = 0;    // uprobe, usdt: ELF virtual address of the function or place
  std::optional<uint64_t> kernel_address;  // kprobe: where it goes, if not by the function's name
  uint64_t file_offset = 0;                // uprobe, usdt: where the breakpoint goes in the file
  uint64_t semaphore_offset = 0;  // usdt: reference counter's place in the file, 0 for none
  uint64_t period_ns = 0;         // profile, interval, self:report
  uint64_t frequency = 0;         // profile, interval: in hertz; 0: `period_ns` counts
  uint64_t event_count = 0;       // software, hardware: events from one sample to the next
  uint32_t perf_config = 0;       // software, hardware
  uint64_t watched = 0;           // watchpoint: address
  uint32_t length = 0;            // watchpoint
  std::string mode;               // watchpoint
  bool is_one_of_many = false;    // the script goes on without it if others of its group are left
  Span group;                     // the wildcard, or the probe that names several points
  uint64_t cookie = 0;            // uprobe: what tells the program at which of its points it is
  Span span;
};

// A 64-bit immediate load that the loader fills in once descriptors exist.
struct Relocation {
  enum class Kind : uint8_t { MapFd, MapValue, KernelSymbol };
  uint32_t insn = 0;
  Kind kind = Kind::MapFd;
  int map = -1;  // index into Image::maps; for MapValue the offset is in the second imm
  std::string symbol;
};

// A function of a program; the first is the program itself, the others are loop callbacks.
struct Subprogram {
  std::string name;
  uint32_t insn = 0;  // first instruction
};

// The word in Image::gate.
enum class Gate : uint64_t { Attaching, Open, Over };

struct Program {
  std::string name;
  ProgramType type = ProgramType::RawTracepoint;
  std::vector<bpf::Insn> insns;
  std::vector<Span> spans;  // one per instruction
  std::vector<Relocation> relocations;
  std::vector<Subprogram> subprograms;
  std::vector<AttachPoint> attach;
  int32_t attach_btf_id = 0;  // BtfTracepoint, Fentry, Fexit, Iter
  std::string attach_module;  // where that id lives; empty for vmlinux
  bool is_sleepable = false;
  bool may_exit = false;       // it has an exit() somewhere
  std::string made_as;         // "fentry" for a kprobe that became one, and the like; usually empty
  bool is_gated = false;       // does nothing once the gate says that all is over
  bool waits_for_all = false;  // gated, and does nothing either until all programs are attached
};

// Indices into Image::maps; types/unwind.h says what is in them.
struct UnwindMaps {
  int processes = -1, mappings = -1, banks = -1;
};

// A map that is `per report` has two sides, each a map of its own. While a report reads one,
// programs go on with the other.
struct MapSides {
  size_t first = 0, second = 0;  // indices into Image::maps
};

// A program that visits all threads and writes their entries of a map: key and value, each as long
// as the map's.
struct Dump {
  size_t program = 0, map = 0;  // indices into Image::programs and Image::maps
};

struct Image {
  std::vector<MapDef> maps;
  std::vector<Program> programs;
  IdVector<EventId, Event> events;
  IdVector<TableId, Table> tables;
  std::optional<PlotSpec> plot;  // what --plot draws
  std::vector<Site> sites;
  std::vector<std::string> strings;  // formats of strftime(), filters of cgroup_path()
  int ringbuf = -1;                  // index into maps
  std::vector<Dump> dumps;
  int site_map = -1;   // index into maps
  int gate = -1;       // likewise; -1: no program is gated
  int exit_cell = -1;  // likewise; -1: no program calls exit()
  int turn = -1;       // likewise: one word, which side programs use: 0 the first, 1 the second
  std::vector<MapSides> sides;
  std::optional<UnwindMaps> unwind;
};

}  // namespace flowtap
