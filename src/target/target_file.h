#pragma once
// TargetFile: what a target description says, taken apart but not yet understood. Types are still
// C text, because a file may use a type before it declares it.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/target.h"

namespace flowtap {

struct TargetFile {
  struct Member {
    std::string declaration;  // "char comm[16]"
    uint32_t offset = 0;
    uint8_t bit_offset = 0, bit_size = 0;
  };
  struct Struct {
    std::string name;  // "struct sock"
    uint32_t size = 0;
    std::vector<Member> members;
  };
  struct Function {
    int32_t id = 0;
    std::string module;  // empty for vmlinux
    std::string result;  // "ssize_t"
    std::string name;
    std::vector<std::string> args;  // declarations
  };

  uint32_t cpus = 1;
  const Arch* arch = &host_arch();
  uint64_t page_size = 4096;
  KernelVersion kernel{UINT16_MAX, 0};  // has all that versions brought up to this one
  std::set<Feature> features;
  std::vector<Struct> structs;
  std::map<std::string, std::string> typedefs;           // name -> declaration: "int pid_t"
  std::map<std::string, std::vector<Enumerator>> enums;  // by "enum name"
  std::map<std::string, std::string> tracepoints;        // "category:event" -> format text
  std::vector<Function> raw_tracepoints, functions;
  std::map<std::string, int32_t> iterators;
  std::map<std::string, uint64_t> symbols, cgroups;
  std::map<std::string, std::vector<UserFunction>> binaries;  // by path
  std::map<std::string, std::vector<UsdtProbe>> usdt_probes;  // by path
};

Result<TargetFile> parse_target_file(std::string_view text);

}  // namespace flowtap
