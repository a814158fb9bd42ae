// Bytes -> BTF. Every type of it is turned into a type of the language and into C, and every name
// is looked for.

#include "types/btf.h"

#include "support.h"
#include "target/btf_signatures.h"
#include "types/btf_c.h"
#include "types/btf_types.h"

using namespace flowtap;

static void look_at(const Btf& btf, const BtfTypes& types, uint32_t id) {
  BtfType type = btf.type(id);
  for (const BtfMember& member : btf.members(type)) btf.type(member.type);
  for (const BtfParam& param : btf.params(type)) btf.type(param.type);
  btf.enumerators(type);
  btf.find(type.name, type.kind);
  Type converted = types.type(id);
  CHECK(converted);
  type_name(converted);
  if (is(converted, Kind::Struct)) types.complete(converted);
  c_type_name(btf, id);
  c_definition(btf, id);
  function_signature(types, type.name);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Result<Btf> btf = Btf::parse(std::as_bytes(std::span(data, size)));
  if (!btf) return 0;
  BtfTypes types(*btf);
  uint32_t end = std::min(btf->end_id() + 2, 60u);
  for (uint32_t id = 0; id < end; id++) look_at(*btf, types, id);
  for (const std::string& name : function_names(*btf, "*")) function_signature(types, name);
  for (const std::string& name : raw_tracepoint_names(*btf, "*"))
    raw_tracepoint_signature(types, name);
  for (const std::string& name : iterator_names(*btf)) iterator_signature(types, name);
  for (const std::string& name : type_names(*btf, "*")) {
    types.find(name);
    type_text(*btf, name);
  }
  btf->find_enumerator("x");
  return 0;
}
