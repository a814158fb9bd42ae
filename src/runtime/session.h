#pragma once
// Session: a script that runs, from its image to its last line of output.
//
//   load     maps and programs are in the kernel, nothing is attached
//   attach   begin probes have run, the others wait for events, the command of -c runs
//   loop     events are turned into output until something ends it; end probes; maps; losses

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attach/attach.h"
#include "bpf/image.h"
#include "load/load.h"
#include "output/symbolizer.h"
#include "output/writer.h"
#include "read/stats.h"
#include "runtime/child.h"
#include "source/source.h"

namespace flowtap {

struct RunOptions {
  std::optional<pid_t> pid;        // -p
  std::vector<pid_t> unwind_pids;  // --dwarf-pid
  Child* child = nullptr;          // -c, started and waiting
  LoadOptions load;
  uint64_t max_cat_bytes = 10240;
  bool print_maps_on_exit = true;
  bool quiet = false;                // no line about attached probes
  bool warns = true;                 // false with --no-warnings
  bool dry_run = false;              // stop when all is attached; no probe of ours is run
  bool stats = false;                // measure run times
  std::chrono::seconds interval{0};  // between reports; 0: as the script says
  std::chrono::seconds duration{0};  // 0: until something else ends it
  bool has_times = false;            // -T: each report begins with the time
  std::string tool;                  // empty for a script
  // Another plan or form of the script follows if attaching fails: print nothing before then.
  bool has_fallback = false;

  // What -v shows; may be empty.
  std::function<void(const std::string&)> say;
  // True makes attaching go on without the probe. Empty: the first failure ends it.
  std::function<bool(const AttachPoint&, const Error&)> forgive;
  // Called now and then while the process of -p or -c lives, often at first: the time to note
  // what it has mapped, which nobody can ask after its end. May be empty.
  std::function<void(pid_t)> look_at_process;
  // Whether nobody reads the output any more; asked after each flush. May be empty.
  std::function<bool()> is_output_closed;
};

// What a session works with; all of it must outlive it. `values` is what the writer has too.
struct SessionParts {
  const Image& image;
  const Sources& sources;
  Writer& writer;
  ValueContext values;
};

class Session {
 public:
  // When the verifier refuses a program, `refusal` (if not null) says what and where.
  static Result<Session> load(const SessionParts& parts, RunOptions options,
                              std::optional<Refusal>* refusal = nullptr);

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  Status attach();
  // The code for exit(2): 0, or that of the script's exit().
  Result<int> loop();

  // For --test and --bench: runs a program some times, until it fails, and handles what it wrote.
  // Gives what the program returned, or 1 when it called exit() with another code than 0, errorf(),
  // or something went wrong in it.
  Result<uint32_t> run(size_t program, uint64_t times = 1);

  // In step with the image's programs. With RunOptions::stats.
  Result<std::vector<ProgramStats>> stats() const;
  // What the kernel keeps for each map, in step with Image::maps, and for all programs.
  struct KernelMemory {
    std::vector<uint64_t> maps;
    uint64_t programs = 0;
  };
  KernelMemory kernel_memory() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// All three steps.
Result<int> run(const SessionParts& parts, const RunOptions& options,
                std::optional<Refusal>* refusal = nullptr);

}  // namespace flowtap
