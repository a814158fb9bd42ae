#pragma once
// The checked program: what the checker knows about a script beside its syntax tree. From here on
// every expression has a type, every name is resolved and no wildcard is left.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "bpf/image.h"
#include "builtins/builtins.h"
#include "lang/ast.h"
#include "sema/config.h"
#include "sema/script_types.h"
#include "target/target.h"
#include "types/plot.h"

namespace flowtap {

using VariableId = Id<struct VariableTag>;
using MapId = Id<struct MapTag>;  // of a map of the script; the image has its own numbers

// What is known of one expression; indexed by Expr::id.
struct ExprInfo {
  Type type = unknown_type();
  std::optional<int64_t> value;      // integer known at compile time
  bool is_literal = false;           // ...and written as such: it adapts to the type it meets
  bool is_cast = false;              // ...or of a type that a cast gave it
  bool is_question = false;          // ...and asked of the machine: rules out the other branch
  std::optional<std::string> text;   // string known at compile time
  const Builtin* builtin = nullptr;  // Identifier, Call
  VariableId variable;               // Variable
  MapId map;                         // MapAccess
};

// Where a plain number leads to that is taken for an address: to the traced program, where there is
// one. None: its sign tells.
AddressSpace space_of_numbers(ProbeKind kind);

struct VariableInfo {
  std::string name;
  Type type = unknown_type();
  bool only_literals = true;  // every value so far was an integer literal
  bool has_declared_type = false;
  bool is_assigned = false;
  bool is_reached = false;  // used outside of branches that has_field() or comptime rule out
  bool is_read = false;
  bool is_captured = false;  // used in a loop body that became a function of its own
  bool is_merged = false;    // another entry stands for it
  bool needs_zero = false;   // may be read before anything was stored in it
  int function = 0;          // 0: the probe itself; loops count up
  Span span;
};

// How a script uses a map of counts, sums or averages. Those that are only counted and visited may
// have a table of hot keys in front of them (types/hot_keys.h).
enum class MapUse : uint8_t {
  Counted,  // keys are counted, and the whole map is printed and cleared
  Visited,  // the same, and flowtap's own probes go through it
  Other,    // keys are read or deleted one by one, or the values cannot be added up
};

struct MapInfo {
  std::string name;
  std::optional<bool> is_scalar;  // unset until a use shows it
  Type key = unknown_type();
  bool key_only_literals = true;
  Type value = unknown_type();
  bool only_literals = true;
  const MapDecl* decl = nullptr;
  Type declared_key, declared_value;  // null where the declaration leaves them to the uses
  bool is_reached = false;  // used where code runs: not ruled out, nor in a function nobody calls
  Span span;                // first use

  // Found by map_uses.cc.
  MapUse use = MapUse::Other;
  // Per thread in all but name: @start[tid] = nsecs, read and deleted by `tid` alone. A script that
  // never deletes a key wants to see those of threads that have ended, too.
  bool is_per_thread = false;
  bool is_deleted_from = false;

  bool is_per_report() const { return decl && decl->is_per_report; }
  bool is_paired() const { return decl && !decl->pairs.empty(); }  // it says what ends entries
};

// A probe block for one context: its own copy of the body, and the places it is attached to.
struct Instance {
  ProbeKind kind = ProbeKind::Begin;
  ProgramType program = ProgramType::RawTracepoint;  // may differ from what is usual for the kind
  std::vector<AttachPoint> attach;
  ExprPtr predicate;
  Block body;
  Span span;
  Type args;                      // Struct with the fields of `args`; null when there are none
  std::vector<Field> parameters;  // of the traced function, where fentry or fexit is used
  Type result;                    // typed return value (fexit); null otherwise
  int32_t attach_btf_id = 0;
  std::string attach_module;
  std::vector<UsdtArgument> usdt_args;
  // Variables that statements declare: Let, ForRange, ForMap, or the first assignment.
  std::unordered_map<const Stmt*, VariableId> declares;
  std::unordered_map<const Stmt*, int> loop_functions;  // loops -> function number
  int functions = 1;
  bool is_uncalled = false;  // a function that no probe calls: checked, then dropped
  bool has_unroll = false;   // the code may be much longer than the text
  size_t first_variable = 0, end_variable = 0;  // its own part of CheckedProgram::variables
};

bool is_report(const Instance& instance);  // self:report

// A named option of the script: getopt("name", default, "description").
struct ScriptOption {
  std::string name;
  std::string description;
  Type type;
};

struct CheckedProgram {
  Config config;
  std::shared_ptr<const ScriptTypes> types;
  std::vector<std::unique_ptr<Instance>> instances;
  std::vector<ExprInfo> info;
  IdVector<VariableId, VariableInfo> variables;
  IdVector<MapId, MapInfo> maps;
  IdVector<TableId, Table> tables;
  std::optional<PlotSpec> plot;
  std::vector<ScriptOption> options;
  // Per Expr::id: the expression of the script that it is a copy of.
  std::vector<uint32_t> origins;

  const ExprInfo& of(const Expr& expr) const { return info[expr.id]; }
};

// The word that an argument is, as in pid(init); empty when it is something else.
std::string word_of(const Expr& expr);
// `a` or `a.b` as words, for container_of(); empty when it is something else.
std::vector<std::string> member_path(const Expr& expr);

int signal_number(std::string_view text);

struct CheckOptions {
  bool is_unsafe = false;
  bool allows_missing = false;  // what a probe names may be missing
  // kprobes become fentry where that means the same, and fentry kprobes where it is refused
  bool swaps_function_probes = true;
  std::optional<int> pid;                                                 // -p
  std::optional<int> child_pid;                                           // -c
  std::vector<std::pair<std::string, std::optional<std::string>>> named;  // --name[=value] after --
  // --test, --bench: the kind of probe that is run. Others of the two kinds are left out.
  std::optional<ProbeKind> only_kind;
  bool lists_left_out = false;  // places that a wildcard cannot take, each by name
  // --probe-filter: whether an attach point of this name is wanted; empty keeps all.
  std::function<bool(const std::string& name)> keeps_probe;
  Environment environment = [](const std::string&) { return std::nullopt; };
};

struct CheckInput {
  const Ast& ast;
  const CDeclarations& declarations;
  int plan = -1;  // probes of other plans are left alone
};

CheckedProgram check(const CheckInput& input, const Target& target, const CheckOptions& options,
                     Diagnostics& diagnostics);
// The types found for variables and maps, for `-d types`.
std::string print_types(const CheckedProgram& program);

}  // namespace flowtap
