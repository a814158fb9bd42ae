// The config block; see config.h. One row per setting: its name and how its text is taken.

#include "sema/config.h"

#include <fmt/format.h>

#include <variant>

#include "base/text.h"

namespace flowtap {

namespace {

using BoolField = bool Config::*;
using NumberField = uint64_t Config::*;
using TextField = std::string Config::*;
using UnstableField = Unstable Config::*;

struct Setting {
  const char* key;
  std::variant<BoolField, NumberField, TextField, UnstableField, MissingProbes Config::*,
               StackMode Config::*, UserSymbolCache Config::*>
      field;
  uint64_t least = 0, most = INT64_MAX;  // of a number
  bool counts_pages = false;             // then `most` is in bytes
};

constexpr uint64_t kLargestRing = uint64_t{1} << 31;  // the kernel's limit

const Setting kSettings[] = {
    {"cache_user_symbols", &Config::cache_user_symbols},
    {"cpp_demangle", &Config::cpp_demangle},
    {"lazy_symbolication", &Config::lazy_symbolication},
    {"license", &Config::license},
    {"log_size", &Config::log_size, 0, UINT32_MAX >> 2},
    {"max_bpf_progs", &Config::max_bpf_progs},
    {"max_cat_bytes", &Config::max_cat_bytes, 0, 1 << 30},
    {"max_map_keys", &Config::max_map_keys, 1, UINT32_MAX},
    {"max_probes", &Config::max_probes},
    {"max_strlen", &Config::max_strlen, 1, 1'000'000},
    {"missing_probes", &Config::missing_probes},
    {"on_stack_limit", &Config::on_stack_limit},
    {"perf_rb_pages", &Config::perf_rb_pages, 0, kLargestRing, true},
    {"print_maps_on_exit", &Config::print_maps_on_exit},
    {"show_debug_info", &Config::show_debug_info},
    {"use_blazesym", &Config::use_blazesym},
    {"stack_mode", &Config::stack_mode},
    {"str_trunc_trailer", &Config::str_trunc_trailer},
    {"unstable_tseries", &Config::unstable_tseries},
    {"unstable_dw_ustack", &Config::unstable_dw_ustack},
    {"unstable_import_statement", &Config::unstable_import_statement},
    {"unstable_typeinfo", &Config::unstable_typeinfo},
};

struct Renamed {
  const char* old_key;
  const char* key;
  bool is_inverse = false;  // the old name said the opposite
};
constexpr Renamed kRenamed[] = {{"strlen", "max_strlen"},
                                {"cat_bytes_max", "max_cat_bytes"},
                                {"map_keys_max", "max_map_keys"},
                                {"no_cpp_demangle", "cpp_demangle", true}};

constexpr const char* kWithoutEffect[] = {"symbol_source",  "max_type_res_iterations",
                                          "unstable_addr",  "unstable_import",
                                          "unstable_macro", "unstable_map_decl"};
// Accepted for scripts of bpftrace: flowtap has nothing that they could change.
struct Unused {
  const char* key;
  const char* why;
};
constexpr Unused kUnused[] = {{"on_stack_limit", "values go to the stack while it has room"},
                              {"show_debug_info", "stacks have no source lines"},
                              {"use_blazesym", "flowtap reads symbols itself"}};
constexpr const char* kEnvironmentOnly[] = {"btf", "kernel_source", "kernel_build", "vmlinux",
                                            "color"};

constexpr const char* kLicenses[] = {"GPL",          "GPL v2",       "GPL and additional rights",
                                     "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"};

std::optional<bool> parse_bool(std::string_view text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return std::nullopt;
}

// Stores the text into the setting; the answer is empty, or says what was expected.
struct Assigner {
  Config& config;
  const std::string& text;
  const Setting& setting;
  uint64_t page_size;

  std::string operator()(BoolField field) const {
    std::optional<bool> value = parse_bool(text);
    if (!value) return "'true' or 'false'";
    config.*field = *value;
    return {};
  }
  std::string operator()(NumberField field) const {
    std::optional<int64_t> value = parse_number(text);
    if (!value || *value < 0) return "a number";
    uint64_t number = static_cast<uint64_t>(*value);
    uint64_t most = setting.counts_pages ? setting.most / page_size : setting.most;
    if (number < setting.least || number > most)
      return fmt::format("a number from {} to {}", setting.least, most);
    config.*field = static_cast<uint64_t>(*value);
    return {};
  }
  std::string operator()(TextField field) const {
    if (field == &Config::license) {
      bool known = false;
      for (const char* license : kLicenses) known |= text == license;
      if (!known) return "a licence that the kernel takes as GPL compatible, e.g. 'GPL'";
    }
    config.*field = text;
    return {};
  }
  std::string operator()(UnstableField field) const {
    if (text == "enable" || text == "true" || text == "1")
      config.*field = Unstable::Enable;
    else if (text == "warn")
      config.*field = Unstable::Warn;
    else if (text == "error" || text == "false" || text == "0")
      config.*field = Unstable::Error;
    else
      return "'enable', 'warn' or 'error'";
    return {};
  }
  std::string operator()(MissingProbes Config::*field) const {
    if (text == "error")
      config.*field = MissingProbes::Error;
    else if (text == "warn")
      config.*field = MissingProbes::Warn;
    else if (text == "ignore")
      config.*field = MissingProbes::Ignore;
    else
      return "'error', 'warn' or 'ignore'";
    return {};
  }
  std::string operator()(StackMode Config::*field) const {
    std::optional<StackMode> mode = parse_stack_mode(text);
    if (!mode) return "'bpftrace', 'perf', 'raw', 'build_id' or 'folded'";
    config.*field = *mode;
    return {};
  }
  std::string operator()(UserSymbolCache Config::*field) const {
    if (text == "PER_PID" || text == "1")
      config.*field = UserSymbolCache::PerPid;
    else if (text == "PER_PROGRAM")
      config.*field = UserSymbolCache::PerProgram;
    else if (text == "NONE" || text == "0")
      config.*field = UserSymbolCache::None;
    else
      return "'PER_PID', 'PER_PROGRAM' or 'NONE'";
    return {};
  }
};

const Setting* find_setting(std::string_view key) {
  for (const Setting& setting : kSettings)
    if (key == setting.key) return &setting;
  return nullptr;
}

std::string normal_key(std::string_view key) {
  std::string lower = to_lower(key);
  for (const char* prefix : {"bpftrace_", "flowtap_"})
    if (lower.starts_with(prefix)) return lower.substr(std::string_view(prefix).size());
  return lower;
}

std::optional<std::string> nearest_setting(std::string_view key) {
  return nearest(key, config_keys());
}

void apply(Config& config, const ConfigEntry& entry, uint64_t page_size, Diagnostics& diagnostics) {
  std::string key = normal_key(entry.key), value = entry.value;
  for (const Renamed& renamed : kRenamed)
    if (key == renamed.old_key) {
      diagnostics.warning(entry.span,
                          fmt::format("'{}' is now called '{}'{}", key, renamed.key,
                                      renamed.is_inverse ? ", with the opposite value" : ""));
      key = renamed.key;
      std::optional<bool> given = parse_bool(value);
      if (renamed.is_inverse && given) value = *given ? "false" : "true";
    }
  for (const char* old : kWithoutEffect)
    if (key == old) {
      diagnostics.warning(entry.span, fmt::format("'{}' no longer has an effect", key));
      return;
    }
  for (const char* name : kEnvironmentOnly)
    if (key == name) {
      diagnostics.error(entry.span,
                        fmt::format("'{}' can only be set as an environment variable", key));
      return;
    }
  const Setting* setting = find_setting(key);
  if (!setting) {
    Diagnostic& error =
        diagnostics.error(entry.span, fmt::format("'{}' is not a setting", entry.key));
    if (std::optional<std::string> near = nearest_setting(key))
      error.with_hint(fmt::format("did you mean '{}'?", *near));
    return;
  }
  for (const Unused& unused : kUnused)
    if (key == unused.key)
      diagnostics.warning(entry.span, fmt::format("'{}' has no effect: {}", key, unused.why));
  std::string expected = std::visit(Assigner{config, value, *setting, page_size}, setting->field);
  if (!expected.empty())
    diagnostics.error(entry.span,
                      fmt::format("'{}' takes {}, found '{}'", key, expected, entry.value));
}

}  // namespace

std::optional<StackMode> parse_stack_mode(std::string_view text) {
  if (text == "bpftrace") return StackMode::Bpftrace;
  if (text == "perf") return StackMode::Perf;
  if (text == "raw") return StackMode::Raw;
  if (text == "build_id") return StackMode::BuildId;
  if (text == "folded") return StackMode::Folded;
  return std::nullopt;
}

// One value as a script reads it: numbers and bools as they are, all else as words.
struct Reader {
  const Config& config;

  ConfigValue operator()(BoolField field) const {
    return {.number = config.*field, .is_bool = true, .text = {}};
  }
  ConfigValue operator()(NumberField field) const {
    return {.number = static_cast<int64_t>(config.*field), .text = {}};
  }
  ConfigValue operator()(TextField field) const { return {.text = config.*field}; }
  ConfigValue operator()(UnstableField field) const {
    constexpr const char* kWords[] = {"enable", "warn", "error"};
    return {.text = kWords[static_cast<size_t>(config.*field)]};
  }
  ConfigValue operator()(MissingProbes Config::*field) const {
    constexpr const char* kWords[] = {"error", "warn", "ignore", "error"};
    return {.text = kWords[static_cast<size_t>(config.*field)]};
  }
  ConfigValue operator()(StackMode Config::*field) const {
    constexpr const char* kWords[] = {"bpftrace", "perf", "raw", "build_id", "folded"};
    return {.text = kWords[static_cast<size_t>(config.*field)]};
  }
  ConfigValue operator()(UserSymbolCache Config::*field) const {
    constexpr const char* kWords[] = {"PER_PID", "PER_PROGRAM", "NONE"};
    return {.text = kWords[static_cast<size_t>(config.*field)]};
  }
};

std::optional<ConfigValue> config_value(const Config& config, std::string_view key) {
  const Setting* setting = find_setting(key);
  if (!setting) return std::nullopt;
  return std::visit(Reader{config}, setting->field);
}

std::vector<std::string> config_keys() {
  std::vector<std::string> keys;
  for (const Setting& setting : kSettings) keys.emplace_back(setting.key);
  return keys;
}

Config read_config(const Ast& ast, const Environment& environment, uint64_t page_size,
                   Diagnostics& diagnostics) {
  Config config;
  for (const ConfigEntry& entry : ast.config) apply(config, entry, page_size, diagnostics);
  for (const Setting& setting : kSettings) {
    for (const char* prefix : {"BPFTRACE_", "FLOWTAP_"}) {
      std::string name = prefix + to_upper(setting.key);
      std::optional<std::string> value = environment(name);
      if (!value) continue;
      std::string expected =
          std::visit(Assigner{config, *value, setting, page_size}, setting.field);
      if (!expected.empty())
        diagnostics.error(kNowhere, fmt::format("environment variable {} takes {}, found '{}'",
                                                name, expected, *value));
    }
  }
  return config;
}

}  // namespace flowtap
