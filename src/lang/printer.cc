// Prints a syntax tree, one node per line, children two blanks deeper:
//
//   probe kprobe:f
//     predicate
//       binary ==
//         identifier pid
//         integer 1
//     assign +=
//       map @n
//       integer 1
//
// A child that may be missing or needs a name (the branches of `if`, a key) has a line of its own.

#include "lang/printer.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"

namespace flowtap {

namespace {

// A string with the escapes that would have to be written for it.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

class Printer {
 public:
  void program(const Ast& ast, std::optional<int> plan);
  void expr(const ExprPtr& expr) {
    std::visit([&](const auto& n) { node(n); }, expr->node);
  }
  void expr_node(const Expr& expr) {
    std::visit([&](const auto& n) { node(n); }, expr.node);
  }
  std::string take() { return std::move(out_); }

 private:
  void line(std::string_view text) {
    out_.append(static_cast<size_t>(depth_) * 2, ' ').append(text).append("\n");
  }

  // A line and, below it, expressions; null ones are left out.
  template <typename... Children>  // any number of them
  void tree(std::string_view text, const Children&... children) {
    line(text);
    depth_++;
    (child(children), ...);
    depth_--;
  }
  void child(const ExprPtr& e) {
    if (e) expr(e);
  }
  void child(const std::vector<ExprPtr>& list) {
    for (const ExprPtr& e : list) expr(e);
  }
  void child(const Block& b) { block(b); }

  // A named child: the name on one line, the child below it.
  void part(std::string_view name, const auto& what) {
    depth_++;
    tree(name, what);
    depth_--;
  }

  void block(const Block& b) {
    for (const StmtPtr& stmt : b.stmts) std::visit([&](const auto& n) { node(n); }, stmt->node);
    if (b.result) tree("value", b.result);
  }

  void type_part(const TypeSpec& type) {
    depth_++;
    tree("type " + print_type(type), type.of);
    depth_--;
  }

  void node(const IntegerLiteral& n) { line(fmt::format("integer {}", n.value)); }
  void node(const StringLiteral& n) { line("string " + quoted(n.value)); }
  void node(const BoolLiteral& n) { line(n.value ? "true" : "false"); }
  void node(const Identifier& n) { line("identifier " + n.name); }
  void node(const Parameter& n) {
    line(n.number ? fmt::format("parameter ${}", n.number) : "parameter $#");
  }
  void node(const Variable& n) { line("variable $" + n.name); }
  void node(const MapAccess& n) { tree("map " + n.name, n.key); }
  void node(const Unary& n) { tree(fmt::format("unary {}", to_text(n.op)), n.operand); }
  void node(const Binary& n) { tree(fmt::format("binary {}", to_text(n.op)), n.left, n.right); }
  void node(const Ternary& n) {
    tree(n.then ? "ternary" : "ternary ?:", n.condition, n.then, n.otherwise);
  }
  void node(const Increment& n) {
    tree(fmt::format("{} {}", n.is_prefix ? "prefix" : "postfix", n.delta > 0 ? "++" : "--"),
         n.target);
  }
  void node(const Cast& n) {
    line("cast");
    type_part(n.type);
    depth_++;
    expr(n.operand);
    depth_--;
  }
  void node(const Member& n) { tree("member " + n.name, n.base); }
  void node(const Index& n) { tree("index", n.base, n.index); }
  void node(const Call& n) { tree("call " + n.name, n.args); }
  void node(const TupleExpr& n) { tree("tuple", n.elements); }
  void node(const RecordExpr& n) {
    line("record");
    for (size_t i = 0; i < n.names.size(); i++) part("field " + n.names[i], n.elements[i]);
  }
  void node(const Sizeof& n) { type_or_expr("sizeof", n.type, n.operand); }
  void node(const Offsetof& n) {
    const char* word = n.only_asks ? "has_field " : "offsetof ";
    type_or_expr(word + join(n.path, "."), n.type, n.operand);
  }
  void node(const Typeof& n) {
    line("typeof");
    type_part(n.type);
  }
  void type_or_expr(std::string_view name, const TypeSpec& type, const ExprPtr& operand) {
    tree(name, operand);
    if (!operand) type_part(type);
  }
  void node(const BlockExpr& n) { tree("block", n.block); }
  void node(const IfExpr& n) { branches(n.is_comptime, n.condition, n.then, n.otherwise); }
  void node(const Comptime& n) { tree("comptime", n.operand); }
  void node(const FnCall& n) {
    line("function " + n.name);
    depth_++;
    for (const StmtPtr& param : n.params) std::visit([&](const auto& s) { node(s); }, param->node);
    if (n.result) std::visit([&](const auto& s) { node(s); }, n.result->node);
    block(n.body);
    depth_--;
  }

  void node(const ExprStmt& n) { expr(n.expr); }
  void node(const Assign& n) {
    std::string op = n.is_compound ? fmt::format("assign {}=", to_text(n.op)) : "assign";
    tree(n.target ? op : "discard", n.target, n.value);
  }
  void node(const Let& n) {
    line("let $" + n.name);
    if (n.has_type) type_part(n.type);
    depth_++;
    child(n.value);
    depth_--;
  }
  void node(const If& n) { branches(n.is_comptime, n.condition, n.then, n.otherwise); }
  void branches(bool is_comptime, const ExprPtr& condition, const Block& then,
                const Block& otherwise) {
    tree(is_comptime ? "if comptime" : "if", condition);
    part("then", then);
    if (!otherwise.stmts.empty() || otherwise.result) part("else", otherwise);
  }
  void node(const While& n) {
    tree("while", n.condition);
    part("do", n.body);
  }
  void node(const Unroll& n) {
    tree("unroll", n.count);
    part("do", n.body);
  }
  void node(const ForRange& n) {
    tree("for $" + n.name, n.begin, n.end);
    part("do", n.body);
  }
  void node(const ForMap& n) {
    tree("for $" + n.name, n.map);
    part("do", n.body);
  }
  void node(const Break&) { line("break"); }
  void node(const Continue&) { line("continue"); }
  void node(const Return& n) { tree("return", n.value); }
  void node(const Emit& n) { tree("emit " + n.table, n.values); }
  void node(const Block& n) { tree("block", n); }

  void table(const TableDecl& table);
  void plot(const PlotDecl& plot);
  void macro(const Macro& macro);
  void probe(const Probe& probe);

  std::string out_;
  int depth_ = 0;
};

void Printer::table(const TableDecl& table) {
  line("table " + table.name);
  depth_++;
  for (const ColumnDecl& column : table.columns) {
    std::string of = column.enum_name.empty() ? "" : " " + column.enum_name;
    line(fmt::format("{}{} {} {}", column.kind, of, column.name, quoted(column.doc)));
  }
  depth_--;
}

static std::string names_of(const std::vector<PlotDecl::Name>& names) {
  std::vector<std::string> out;
  out.reserve(names.size());
  for (const PlotDecl::Name& name : names) out.push_back(name.text);
  return join(out, ", ");
}

void Printer::plot(const PlotDecl& plot) {
  line(fmt::format("plot {} {}{}{}{}", plot.kind.text, names_of(plot.values),
                   plot.unit.empty() ? "" : " in " + plot.unit,
                   plot.by.empty() ? "" : " by " + names_of(plot.by),
                   plot.mark.text.empty()
                       ? ""
                       : fmt::format(" mark {} {}", plot.mark.text, quoted(plot.marked))));
}

void Printer::macro(const Macro& macro) {
  std::vector<std::string> params;
  for (const MacroParam& param : macro.params)
    params.push_back((param.kind == MacroParam::Kind::Variable ? "$" : "") + param.name);
  tree(fmt::format("macro {}({})", macro.name, join(params, ", ")), macro.body);
}

void Printer::probe(const Probe& probe) {
  std::vector<std::string> attach;
  for (const AttachSpec& spec : probe.attach) attach.push_back(join(spec.parts, ":"));
  std::string name = probe.name.empty() ? "" : probe.name + " = ";
  line("probe " + name + join(attach, ", "));
  if (probe.predicate) part("predicate", probe.predicate);
  depth_++;
  block(probe.body);
  depth_--;
}

static std::string types_of(const MapDecl& decl) {
  std::vector<std::string> keys;
  for (const TypeSpec& key : decl.keys) keys.push_back(print_type(key));
  std::string out = keys.empty() ? "" : fmt::format("[{}]", join(keys, ", "));
  return decl.has_value_type ? out + " : " + print_type(decl.value) : out;
}

void Printer::program(const Ast& ast, std::optional<int> plan) {
  for (const CDefinition& c : ast.c_definitions) line("c " + quoted(c.text));
  for (const ConfigEntry& entry : ast.config)
    line(fmt::format("config {} = {}", entry.key, quoted(entry.value)));
  for (const Import& import : ast.imports) line("import " + quoted(import.path));
  for (const MapDecl& decl : ast.map_decls)
    line(fmt::format("declare {}{}{}{}{}", decl.name, types_of(decl),
                     decl.type.empty() ? "" : fmt::format(" {} {}", decl.type, decl.entries),
                     decl.is_per_report ? " per report" : "",
                     decl.pairs.empty() ? "" : " pairs " + decl.pairs));
  for (const TableDecl& t : ast.tables) table(t);
  for (const PlotDecl& p : ast.plots) plot(p);
  for (const Macro& m : ast.macros) macro(m);
  for (const Probe& p : ast.probes)
    if (!plan || p.is_in_plan(*plan)) probe(p);
}

}  // namespace

std::string print_ast(const Ast& ast) {
  Printer printer;
  printer.program(ast, std::nullopt);
  return printer.take();
}

std::string print_ast(const Ast& ast, int plan) {
  Printer printer;
  printer.program(ast, plan);
  return printer.take();
}

std::string print_expr(const Expr& expr) {
  Printer printer;
  printer.expr_node(expr);
  return printer.take();
}

std::string print_type(const TypeSpec& type) {
  std::string out = type.of ? "typeof(...)" : type.name;
  for (const TypeSpec::Suffix& suffix : type.suffixes) {
    if (suffix.is_pointer) {
      out += out.ends_with('*') ? "*" : " *";
    } else {
      out += suffix.count < 0 ? "[]" : fmt::format("[{}]", suffix.count);
    }
  }
  return out;
}

const char* to_text(UnaryOp op) {
  switch (op) {
    case UnaryOp::Not: return "!";
    case UnaryOp::Complement: return "~";
    case UnaryOp::Negate: return "-";
    case UnaryOp::Dereference: return "*";
    case UnaryOp::AddressOf: return "&";
  }
  return "?";
}

const char* to_text(BinaryOp op) {
  switch (op) {
    case BinaryOp::Or: return "||";
    case BinaryOp::And: return "&&";
    case BinaryOp::BitOr: return "|";
    case BinaryOp::BitXor: return "^";
    case BinaryOp::BitAnd: return "&";
    case BinaryOp::Equal: return "==";
    case BinaryOp::NotEqual: return "!=";
    case BinaryOp::Less: return "<";
    case BinaryOp::Greater: return ">";
    case BinaryOp::LessEqual: return "<=";
    case BinaryOp::GreaterEqual: return ">=";
    case BinaryOp::ShiftLeft: return "<<";
    case BinaryOp::ShiftRight: return ">>";
    case BinaryOp::Add: return "+";
    case BinaryOp::Subtract: return "-";
    case BinaryOp::Multiply: return "*";
    case BinaryOp::Divide: return "/";
    case BinaryOp::Modulo: return "%";
  }
  return "?";
}

}  // namespace flowtap
