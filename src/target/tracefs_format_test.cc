// Tracepoint formats: the text of a format file in, a list of fields out.

#include "target/tracefs_format.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace flowtap {
namespace {

Type find_nothing(std::string_view) { return nullptr; }

std::string print(const Result<TracepointFormat>& format) {
  if (!format) return format.error().message();
  std::string out = fmt::format("{} {}\n", format->id, format->size);
  for (size_t i = 0; i < format->fields.size(); i++) {
    const Field& field = format->fields[i];
    out += fmt::format("{} {} @{}{} <{}>\n", field.name, type_name(field.type), field.offset,
                       field.is_data_loc ? " data_loc" : "", format->declarations[i]);
  }
  return out;
}

constexpr std::string_view kOpenat = R"(name: sys_enter_openat
ID: 782
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:int dfd;	offset:16;	size:8;	signed:0;
	field:const char * filename;	offset:24;	size:8;	signed:0;
	field:umode_t mode;	offset:40;	size:8;	signed:0;

print fmt: "dfd: 0x%08lx", ((unsigned long)(REC->dfd))
)";

TEST(TracefsFormat, common_fields_are_dropped_and_declarations_kept) {
  EXPECT_EQ(print(parse_tracepoint_format(kOpenat, find_nothing)),
            "782 48\n"
            "__syscall_nr int32 @8 <int __syscall_nr>\n"
            "dfd int32 @16 <int dfd>\n"
            "filename int8 * @24 <const char * filename>\n"
            "mode uint16 @40 <umode_t mode>\n");
}

TEST(TracefsFormat, pointers_of_system_calls_are_the_users) {
  Result<TracepointFormat> openat = parse_tracepoint_format(kOpenat, find_nothing);
  EXPECT_EQ(openat->fields[2].type->space, AddressSpace::User);
  Result<TracepointFormat> other = parse_tracepoint_format(
      "ID: 1\nfield:const void * skb;\toffset:8;\tsize:8;\tsigned:0;\n", find_nothing);
  EXPECT_EQ(other->fields[0].type->space, AddressSpace::Kernel);
}

TEST(TracefsFormat, arrays_and_data_locations) {
  constexpr std::string_view text = R"(ID: 5
	field:char comm[16];	offset:8;	size:16;	signed:0;
	field:char name[NAME_LEN];	offset:24;	size:32;	signed:0;
	field:__data_loc char[] path;	offset:56;	size:4;	signed:0;
	field:__rel_loc u8[] raw;	offset:60;	size:4;	signed:0;
	field:unsigned long args[];	offset:64;	size:0;	signed:0;
)";
  Result<TracepointFormat> format = parse_tracepoint_format(text, find_nothing);
  EXPECT_EQ(print(format),
            "5 64\n"
            "comm int8[16] @8 <char comm[16]>\n"
            "name int8[32] @24 <char name[NAME_LEN]>\n"
            "path int8 @56 data_loc <__data_loc char[] path>\n"
            "raw uint8 @60 data_loc <__rel_loc u8[] raw>\n"
            "args uint64[0] @64 <unsigned long args[]>\n");
  EXPECT_TRUE(format->fields[3].is_rel_loc);
}

TEST(TracefsFormat, unknown_types_take_size_and_sign_of_the_record) {
  constexpr std::string_view text = R"(ID: 5
	field:odd_t a;	offset:8;	size:2;	signed:1;
	field:struct odd b;	offset:10;	size:6;	signed:0;
	field:unsigned long c;	offset:16;	size:4;	signed:0;
)";
  EXPECT_EQ(print(parse_tracepoint_format(text, find_nothing)),
            "5 20\n"
            "a int16 @8 <odd_t a>\n"
            "b uint8[6] @10 <struct odd b>\n"
            "c uint32 @16 <unsigned long c>\n");
}

TEST(TracefsFormat, what_is_not_a_format_is_an_error) {
  EXPECT_EQ(print(parse_tracepoint_format("", find_nothing)), "tracepoint format has no ID line");
  EXPECT_EQ(print(parse_tracepoint_format("ID: 1\n\tfield:int x;\tsize:4;\n", find_nothing)),
            "cannot understand tracepoint field 'field:int x;\tsize:4;'");
}

TEST(TracefsFormat, damaged_text_is_harmless) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; round++) {
    std::string text(kOpenat.substr(0, random() % kOpenat.size()));
    for (int i = 0; i < 3 && !text.empty(); i++)
      text[random() % text.size()] = "[]*;:0(\n x"[random() % 10];
    (void)parse_tracepoint_format(text, find_nothing);
  }
}

}  // namespace
}  // namespace flowtap
