#pragma once
// Settings of a script: the config block, overridden by FLOWTAP_* (or BPFTRACE_*) variables.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/ast.h"
#include "source/diagnostics.h"
#include "types/type.h"

namespace flowtap {

// Unset: an attach point may be missing where another one of its probe is left.
enum class MissingProbes : uint8_t { Error, Warn, Ignore, Unset };
enum class Unstable : uint8_t { Enable, Warn, Error };
enum class UserSymbolCache : uint8_t { PerPid, PerProgram, None };

struct Config {
  UserSymbolCache cache_user_symbols = UserSymbolCache::PerPid;
  bool cpp_demangle = true;
  bool lazy_symbolication = true;
  std::string license = "GPL";
  uint64_t log_size = 1000000;
  uint64_t max_bpf_progs = 1024;
  uint64_t max_cat_bytes = 10240;
  uint64_t max_map_keys = 0;  // 0: by the size of a key
  uint64_t max_probes = 1024;
  uint64_t max_strlen = 1024;
  MissingProbes missing_probes = MissingProbes::Unset;
  uint64_t on_stack_limit = 32;
  uint64_t perf_rb_pages = 0;
  bool print_maps_on_exit = true;
  bool show_debug_info = false;
  bool use_blazesym = false;
  StackMode stack_mode = StackMode::Bpftrace;
  std::string str_trunc_trailer = "..";
  Unstable unstable_tseries = Unstable::Warn;
  Unstable unstable_dw_ustack = Unstable::Warn;
  Unstable unstable_import_statement = Unstable::Enable;
  Unstable unstable_typeinfo = Unstable::Error;
};

// The value of an environment variable, by its name; injected so that sema reads no environment.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

Config read_config(const Ast& ast, const Environment& environment, uint64_t page_size,
                   Diagnostics& diagnostics);

// A setting as `config.name` gives it to a script.
struct ConfigValue {
  std::optional<int64_t> number;
  bool is_bool = false;
  std::string text;  // when it is no number
};
std::optional<ConfigValue> config_value(const Config& config, std::string_view key);
std::vector<std::string> config_keys();

std::optional<StackMode> parse_stack_mode(std::string_view text);

}  // namespace flowtap
