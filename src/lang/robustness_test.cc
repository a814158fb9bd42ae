// Hostile input: every prefix of a few scripts, and scripts with random bytes changed, must give
// a tree or messages, never a crash or a hang. Run under the sanitizers this finds what reads or
// loops too far. The changes are random but the same on every run.

#include <gtest/gtest.h>

#include <random>

#include "lang/clone.h"
#include "lang/expand.h"
#include "lang/parser.h"
#include "lang/printer.h"

namespace flowtap {
namespace {

constexpr const char* kScripts[] = {
    R"(#!/usr/bin/env flowtap
#include <net/sock.h>
#define LIMIT 10
struct point { int x; struct { short a:3, b; } in[4]; } __attribute__((packed));
enum color { RED, GREEN = 5 };
BEGIN { printf("%s\n", "a\x41\101\n"); }
kprobe:vfs_read, uprobe:/lib/*/x.so:"a b" /pid == 1 && ((struct sock *)arg0)->sk / 2 > LIMIT/ {
  @start[tid, comm] = nsecs; @bytes = hist(args->count); delete(@start[tid]); })",
    R"(config = { max_strlen = 64; license = "GPL" } import "x.bt";
let @m = lruhash(100);
macro add($v, @m, x) { $t = x; @m[$v] = $t; if (x) { $t + 1 } else if $v { 2 } else { (x)*3 } }
slow = interval:ms:100 { for ($i : 0..10) { @n[$i]++; } for ($kv : @m) { print(($kv.0.1, $kv.1)); }
  let $y: int8[4] = (int8[4])$1; $z = $x ? 1 : $y ?: 2; _ = add($z, @m, 1 + 2); str($2 + 1); })",
    R"(begin { $r = (a=1, b=(2,)); while ($i < 5) { $i++ } unroll(3) { break; } if comptime (1) { }
  $s = sizeof(struct x *) + offsetof(struct x, a.b); $q = { let $k = 1ms; $k << 2 }; return; })",
};

void try_parse(std::string text) {
  Sources sources;
  Diagnostics diagnostics;
  Ast ast = parse(sources, sources.add("t.bt", std::move(text)), diagnostics);
  print_ast(ast);
  CDeclarations c = parse_c(ast.c_definitions, {}, diagnostics);
  print_c(c);
  expand(ast, c.defines, {{"42", "hello"}}, diagnostics);
  print_ast(ast);
  for (const Probe& probe : ast.probes) clone(probe.body, ast.next_id);
  for (const Diagnostic& d : diagnostics.all()) render(d, sources);
}

TEST(Robustness, scripts_parse_when_left_alone) {
  for (const char* script : kScripts) {
    Sources sources;
    Diagnostics diagnostics;
    parse(sources, sources.add("t.bt", script), diagnostics);
    for (const Diagnostic& d : diagnostics.all()) ADD_FAILURE() << render(d, sources);
  }
}

TEST(Robustness, every_prefix_is_survived) {
  for (std::string script : kScripts)
    for (size_t n = 0; n <= script.size(); n++) try_parse(script.substr(0, n));
}

TEST(Robustness, changed_bytes_are_survived) {
  std::mt19937 random(42);
  const std::string likely = "{}()[];:,/\"'#$@*\\\n.=+- 0a\x01\xff";
  for (std::string script : kScripts) {
    for (int round = 0; round < 500; round++) {
      std::string text = script;
      for (int change = 0; change < 1 + round % 5; change++) {
        size_t at = random() % text.size();
        char c = likely[random() % likely.size()];
        if (random() % 2) {
          text[at] = c;
        } else if (random() % 2) {
          text.insert(at, 1, c);
        } else {
          text.erase(at, 1 + random() % 8);
        }
      }
      try_parse(text);
    }
  }
}

TEST(Robustness, bytes_without_meaning_are_survived) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; round++) {
    std::string text;
    for (unsigned i = 0; i < random() % 300; i++) text += static_cast<char>(random() % 256);
    try_parse(text);
    try_parse("begin { " + text);
  }
}

}  // namespace
}  // namespace flowtap
