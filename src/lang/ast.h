#pragma once
// The syntax tree, as the parser leaves it and the expander (macros, parameters) rewrites it.
// Nodes are plain values; the type of an expression lives beside the tree, in a table indexed by
// Expr::id, never inside it. Every node keeps the span it was written at.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "source/source.h"

namespace flowtap {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

struct Block {
  Span span;
  std::vector<StmtPtr> stmts;
  ExprPtr result;  // a block expression's value: the trailing expression without ';'
};

// uint64, struct sock *, int8[4], string[16], typeof(e). Suffixes are read from left to right.
struct TypeSpec {
  struct Suffix {
    bool is_pointer = false;
    int64_t count = -1;  // array length; -1: left open, "int8[]"
  };
  Span span;
  std::string name;  // "uint64", "struct sock"; empty when `of` is set
  ExprPtr of;        // typeof(expr)
  std::vector<Suffix> suffixes;
};

enum class UnaryOp : uint8_t { Not, Complement, Negate, Dereference, AddressOf };
enum class BinaryOp : uint8_t {
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equal,
  NotEqual,
  Less,
  Greater,
  LessEqual,
  GreaterEqual,
  ShiftLeft,
  ShiftRight,
  Add,
  Subtract,
  Multiply,
  Divide,
  Modulo,
};

// --- expressions ------------------------------------------------------------------------------
struct IntegerLiteral {
  uint64_t value = 0;
};  // 42, 0x2a, 1e6, 10ms
struct StringLiteral {
  std::string value;
};  // escapes already resolved
struct BoolLiteral {
  bool value = false;
};
struct Identifier {
  std::string name;
};  // builtin, enumerator, constant, macro, map type
struct Parameter {
  uint32_t number = 0;
};  // $1; number 0 stands for $#
struct Variable {
  std::string name;
};  // $x; the name is kept without '$'
struct MapAccess {
  std::string name;
  ExprPtr key;
};  // @x (null key), @x[k]; name with '@'; @x[a,b] has a Tuple key
struct Unary {
  UnaryOp op{};
  ExprPtr operand;
};
struct Binary {
  BinaryOp op{};
  ExprPtr left, right;
};
struct Ternary {
  ExprPtr condition, then, otherwise;
};  // then is null in `c ?: b`
struct Increment {
  bool is_prefix = false;
  int delta = 1;
  ExprPtr target;
};
struct Cast {
  TypeSpec type;
  ExprPtr operand;
};
struct Member {
  ExprPtr base;
  std::string name;
};  // a.b, a->b, a.0
struct Index {
  ExprPtr base, index;
};
struct Call {
  std::string name;
  std::vector<ExprPtr> args;
};
struct TupleExpr {
  std::vector<ExprPtr> elements;
};
struct RecordExpr {
  std::vector<std::string> names;
  std::vector<ExprPtr> elements;
};
// sizeof, offsetof, typeof, typeinfo: of a type when `operand` is null.
struct Sizeof {
  TypeSpec type;
  ExprPtr operand;
};
struct Offsetof {
  TypeSpec type;
  ExprPtr operand;
  std::vector<std::string> path;
  bool only_asks = false;  // has_field(T, f): is there such a field?
};
struct Typeof {
  TypeSpec type;
};  // only as a macro argument
struct BlockExpr {
  Block block;
};
struct IfExpr {
  ExprPtr condition;
  Block then, otherwise;
  bool is_comptime = false;
};
struct Comptime {
  ExprPtr operand;
};
// A call of a function of the script, with a copy of its body: made by expand().
struct FnCall {
  std::string name;
  Span declared;                // the head of the function
  std::vector<StmtPtr> params;  // a Let for each, with the argument as its value
  StmtPtr result;               // the Let of the variable that 'return' stores to; null: void
  Block body;
};

struct Expr {
  uint32_t id = 0;  // unique within a program; index into side tables
  Span span;
  std::variant<IntegerLiteral, StringLiteral, BoolLiteral, Identifier, Parameter, Variable,
               MapAccess, Unary, Binary, Ternary, Increment, Cast, Member, Index, Call, TupleExpr,
               RecordExpr, Sizeof, Offsetof, Typeof, BlockExpr, IfExpr, Comptime, FnCall>
      node;
};

// --- statements -------------------------------------------------------------------------------
struct ExprStmt {
  ExprPtr expr;
};
// target = value; target += value has op set. Target: Variable or MapAccess (or `_`: target null).
struct Assign {
  ExprPtr target;
  ExprPtr value;
  bool is_compound = false;
  BinaryOp op{};
};
struct Let {
  std::string name;
  bool has_type = false;
  TypeSpec type;
  ExprPtr value;
  Span name_span;
  bool is_parameter = false;  // of a function: the value is converted to the type
};
struct If {
  ExprPtr condition;
  Block then;
  Block otherwise;
  bool is_comptime = false;
};
struct While {
  ExprPtr condition;
  Block body;
};
struct Unroll {
  ExprPtr count;
  Block body;
};
struct ForRange {
  std::string name;
  ExprPtr begin, end;
  Block body;
  Span name_span;
};
struct ForMap {
  std::string name;
  ExprPtr map;
  Block body;
  Span name_span;
};
struct Break {};
struct Continue {};
struct Return {
  ExprPtr value;
};

// emit table(value, ...)
struct Emit {
  std::string table;
  Span table_span;
  std::vector<ExprPtr> values;
};

struct Stmt {
  Span span;
  std::variant<ExprStmt, Assign, Let, If, While, Unroll, ForRange, ForMap, Break, Continue, Return,
               Emit, Block>
      node;
};

// --- the program ------------------------------------------------------------------------------
// One attach point, as written and split at ':' with quotes removed: {"tracepoint", "syscalls",
// "sys_enter_*"}. The source line of `uprobe:target@file:line` is split off too: {"uprobe",
// "target", "@file", "line"}.
struct AttachSpec {
  Span span;
  std::string text;
  std::vector<std::string> parts;
};

struct Probe {
  Span span;
  std::string name;  // `name = probe ...`, empty for none
  std::vector<AttachSpec> attach;
  ExprPtr predicate;
  Block body;
  int plan = -1;  // index into Ast::plans; -1: applies in every plan

  bool is_in_plan(int number) const { return plan < 0 || plan == number; }
};

// One of several ways to get the answer: plan NAME { probes }, or plan NAME; where an imported
// script has the probes. The first that works is used.
struct Plan {
  Span span;
  std::string name;
  bool is_imported = false;
};

struct MacroParam {
  enum class Kind : uint8_t { Variable, Map, Expression } kind = Kind::Expression;
  std::string name;  // without '$'; with '@'
};

struct Macro {
  Span span;
  std::string name;
  std::vector<MacroParam> params;
  Block body;
};

// fn NAME($a : type, ...) : type { body }
struct Function {
  struct Param {
    std::string name;
    Span span;
    TypeSpec type;
  };
  Span span;  // up to the body
  std::string name;
  std::vector<Param> params;
  bool has_result = false;
  TypeSpec result;
  Block body;
};

// let @a[uint32] : uint64 = lruhash(100) per report;  let @b pairs ends;
struct MapDecl {
  Span span;
  std::string name;
  std::vector<TypeSpec> keys;  // several are a tuple; empty: uses tell
  bool has_value_type = false;
  TypeSpec value;
  std::string type;  // "lruhash"; empty when it is not declared
  uint64_t entries = 0;
  bool is_per_report = false;
  std::string pairs;  // what ends each of its entries; empty: nobody counts those that are missing
};

struct ColumnDecl {  // us LAT "how long it took";
  Span span;
  Span kind_span;
  std::string kind;
  std::string enum_name;  // enum skb_drop_reason REASON "..."
  std::string name;
  std::string doc;
};

struct TableDecl {  // table NAME [sorted by COLUMN] { columns }
  Span span;
  std::string name;
  std::string sorted_by;  // empty: rows are written as they come
  Span sorted_span;
  std::vector<ColumnDecl> columns;
};

struct PlotDecl {  // plot lines CWND, SNDBUF by LADDR, LPORT mark EVENT "retrans";
  struct Name {
    Span span;
    std::string text;
  };
  Span span;
  Name kind;
  std::vector<Name> values;  // columns, or one map
  std::string unit;          // of the values of a map
  std::vector<Name> by;
  Name mark;  // empty for none
  std::string marked;
};

struct ConfigEntry {
  Span span;
  std::string key;
  std::string value;  // as text, quotes removed
};

struct Import {
  Span span;
  std::string path;
};

// A line that begins with '#', or a struct/union/enum definition, as text for the C parser.
struct CDefinition {
  Span span;
  std::string text;
};

// The expressions with ids in [first_id, end_id) were not written where they stand: they came from
// the macro or #define `name`, used at `use`.
struct Expansion {
  uint32_t first_id = 0;
  uint32_t end_id = 0;
  Span use;
  std::string name;
};

struct Ast {
  std::vector<CDefinition> c_definitions;
  std::vector<ConfigEntry> config;
  std::vector<Import> imports;
  std::vector<MapDecl> map_decls;
  std::vector<TableDecl> tables;
  std::vector<PlotDecl> plots;  // one, unless there is a mistake
  std::vector<Macro> macros;
  std::vector<Function> functions;
  std::vector<ExprPtr> uncalled;  // a FnCall of each function that no probe calls, from expand()
  std::vector<Plan> plans;
  std::vector<Probe> probes;
  std::vector<Expansion> expansions;  // filled by expand(), inner ones before those that hold them
  uint32_t next_id = 1;               // for the next Expr
};

}  // namespace flowtap
