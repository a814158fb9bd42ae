// Target descriptions. Way in: parse_target_file(). The text is a list of statements, each
// beginning a line; `//` begins a comment.
//
//   arch x86_64                                as uname(2) calls it; without it, this machine's
//   page_size 4096
//   cpus 4
//   kernel 5.15                                has the helpers of this version; without it, all
//   feature btf kprobe fentry fentry_stack_args kprobe_multi uprobe_multi kernel_reads
//   typedef int pid_t;
//   enum colour { RED, BLUE = 5 };
//   struct sock @ 760 {                        the number is the size in bytes
//     struct proto *prot @ 40;                 and here the offset
//     unsigned char shutdown : 2 @ 540.4;      a bit field: bits 4 and 5 of the byte at 540
//   };
//   tracepoint sched:sched_switch              then the event's format file as it is, up to:
//   end
//   function 100 ssize_t vfs_read(struct file *file, char *buf);      the number is the BTF id
//   function 101 [nf_tables] int nft_lookup(int key);
//   raw_tracepoint 200 sched_switch(bool preempt, struct task_struct *prev);
//   iterator 300 tcp                           its context is struct bpf_iter__tcp
//   symbol 0xffffffff81000000 _stext
//   cgroup 17 /sys/fs/cgroup/system.slice
//   binary /bin/bash
//   user_function /bin/bash readline 0x1040 64           address in the file and size
//   usdt /bin/bash shell:prompt 0x1080 s4@rdi u8@-16(rbp) s4@$7
//
// Members of anonymous unions are simply written with the offsets that they have.

#include "target/target_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace flowtap {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::string& word : split(text, ' '))
    if (!word.empty()) words.push_back(std::move(word));
  return words;
}

bool mentions(std::string_view text, std::string_view word) {
  std::vector<std::string> words = words_of(text);
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Cuts at the first `separator`: what stands before it is returned, the rest stays in `text`.
std::string_view cut(std::string_view& text, char separator) {
  size_t at = std::min(text.find(separator), text.size());
  std::string_view head = trim(text.substr(0, at));
  text = trim(text.substr(std::min(at + 1, text.size())));
  return head;
}

bool take_number(std::string_view text, auto& out) {
  std::optional<int64_t> number = parse_number(trim(text));
  if (!number) return false;
  out = static_cast<std::remove_reference_t<decltype(out)>>(*number);
  return true;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lines_(split(text, '\n')) {}

  Result<TargetFile> parse() {
    while (next_ < lines_.size()) {
      std::string line = take_line();
      std::string_view rest = line;
      std::string_view keyword = cut(rest, ' ');
      if (!keyword.empty() && !statement(keyword, rest))
        return Error{fmt::format("line {} of the target description: cannot understand '{}'", next_,
                                 trim(lines_[next_ - 1]))};
    }
    return std::move(file_);
  }

 private:
  // The next line without its comment and without a closing semicolon.
  std::string take_line() {
    std::string_view line = lines_[next_++];
    line = trim(line.substr(0, line.find("//")));
    if (line.ends_with(';')) line.remove_suffix(1);
    return std::string(trim(line));
  }

  bool statement(std::string_view keyword, std::string_view rest) {
    if (keyword == "arch") return (file_.arch = find_arch(rest)) != nullptr;
    if (keyword == "page_size") return take_number(rest, file_.page_size) && file_.page_size > 0;
    if (keyword == "cpus") return take_number(rest, file_.cpus);
    if (keyword == "kernel") return (file_.kernel = parse_kernel_version(rest)) != KernelVersion();
    if (keyword == "feature") return feature(rest);
    if (keyword == "typedef") return type_definition(rest);
    if (keyword == "struct" || keyword == "union") return structure(keyword, rest);
    if (keyword == "enum") return enumeration(rest);
    if (keyword == "tracepoint") return tracepoint(rest);
    if (keyword == "function") return function(rest, file_.functions);
    if (keyword == "raw_tracepoint") return function(rest, file_.raw_tracepoints);
    if (keyword == "iterator") return numbered(rest, file_.iterators);
    if (keyword == "symbol") return numbered(rest, file_.symbols);
    if (keyword == "cgroup") return numbered(rest, file_.cgroups);
    if (keyword == "binary") return file_.binaries.try_emplace(std::string(rest)).second;
    if (keyword == "user_function") return user_function(rest);
    if (keyword == "usdt") return usdt(rest);
    return false;
  }

  bool feature(std::string_view rest) {
    size_t known = 0;
    std::vector<std::string> words = words_of(rest);
    for (const std::string& word : words)
      if (const FeatureRow* row = find_feature(word); row && row->is_of_kernel()) {
        file_.features.insert(row->feature);
        known++;
      }
    return known == words.size();
  }

  // "int pid_t": the name is the last word. It must be new, so that no typedef leads to itself.
  bool type_definition(std::string_view rest) {
    size_t space = rest.find_last_of(" *");
    if (space == std::string_view::npos) return false;
    std::string name(rest.substr(space + 1));
    bool is_new = !mentions(rest.substr(0, space), name);
    for (const auto& [known, text] : file_.typedefs) is_new = is_new && !mentions(text, name);
    file_.typedefs[name] = std::string(rest);
    return is_new;
  }

  // struct = keyword name "@" size "{" { member ";" } "}"
  bool structure(std::string_view keyword, std::string_view rest) {
    TargetFile::Struct found{.name = fmt::format("{} {}", keyword, cut(rest, '@'))};
    std::string_view size = cut(rest, '{');
    if (!take_number(size, found.size)) return false;
    while (next_ < lines_.size()) {
      std::string line = take_line();
      if (line.empty()) continue;
      if (line == "}") {
        file_.structs.push_back(std::move(found));
        return true;
      }
      if (!member(line, found)) return false;
    }
    return false;
  }

  // member = declaration [ ":" bits ] "@" offset [ "." bit ]
  bool member(std::string_view line, TargetFile::Struct& owner) {
    TargetFile::Member member;
    std::string_view left = cut(line, '@');
    std::string_view offset = cut(line, '.');
    member.declaration = cut(left, ':');
    if (!left.empty() && !take_number(left, member.bit_size)) return false;
    if (!line.empty() && !take_number(line, member.bit_offset)) return false;
    bool ok = take_number(offset, member.offset);
    owner.members.push_back(std::move(member));
    return ok;
  }

  // enum = "enum" name "{" name [ "=" number ] { "," ... } "}", on one line or several
  bool enumeration(std::string_view rest) {
    std::string name = fmt::format("enum {}", cut(rest, '{'));
    std::string body(rest);
    while (body.find('}') == std::string::npos) {
      if (next_ == lines_.size()) return false;
      body += take_line();
    }
    int64_t value = 0;
    for (std::string_view item : split(body.substr(0, body.find('}')), ',')) {
      std::string_view label = cut(item, '=');
      if (!item.empty() && !take_number(item, value)) return false;
      if (!label.empty()) file_.enums[name].push_back({std::string(label), value++});
    }
    return true;
  }

  bool tracepoint(std::string_view name) {
    std::string format;
    for (; next_ < lines_.size(); next_++) {
      if (trim(lines_[next_]) == "end") {
        next_++;
        file_.tracepoints[std::string(name)] = std::move(format);
        return true;
      }
      format += lines_[next_] + "\n";
    }
    return false;
  }

  // function = id [ "[" module "]" ] [ result ] name "(" [ declaration { "," declaration } ] ")"
  bool function(std::string_view rest, std::vector<TargetFile::Function>& out) {
    TargetFile::Function found;
    if (!take_number(cut(rest, ' '), found.id)) return false;
    if (rest.starts_with('[')) {
      rest.remove_prefix(1);
      found.module = cut(rest, ']');
    }
    if (!rest.ends_with(')')) return false;
    rest.remove_suffix(1);
    std::string_view head = cut(rest, '(');
    size_t end_of_result = head.find_last_of(" *") + 1;  // npos + 1 is 0
    found.name = head.substr(end_of_result);
    found.result = trim(head.substr(0, end_of_result));
    for (std::string_view arg : split(rest, ','))
      if (!trim(arg).empty()) found.args.emplace_back(trim(arg));
    out.push_back(std::move(found));
    return true;
  }

  template <typename Number>  // of ids and of addresses
  bool numbered(std::string_view rest, std::map<std::string, Number>& out) {
    std::string_view number = cut(rest, ' ');
    return !rest.empty() && take_number(number, out[std::string(rest)]);
  }

  bool user_function(std::string_view rest) {
    std::vector<std::string> words = words_of(rest);
    UserFunction found;
    if (words.size() != 4 || !take_number(words[2], found.address)) return false;
    if (!take_number(words[3], found.size)) return false;
    found.name = words[1];
    found.file_offset = found.address;
    file_.binaries[words[0]].push_back(std::move(found));
    return true;
  }

  bool usdt(std::string_view rest) {
    std::vector<std::string> words = words_of(rest);
    UsdtProbe found;
    if (words.size() < 3 || !take_number(words[2], found.address)) return false;
    found.file_offset = found.address;
    std::string_view name = words[1];
    found.provider = cut(name, ':');
    found.name = name;
    for (size_t i = 3; i < words.size(); i++)
      if (!usdt_argument(words[i], found)) return false;
    file_.binaries.try_emplace(words[0]);
    file_.usdt_probes[words[0]].push_back(std::move(found));
    return true;
  }

  // argument = ( "s" | "u" ) bytes "@" ( "$" number | register | [ number ] "(" register ")" )
  bool usdt_argument(std::string_view text, UsdtProbe& probe) {
    UsdtArgument arg{.is_signed = text.starts_with('s')};
    std::string_view place = text;
    std::string_view width = cut(place, '@');
    if (width.size() != 2 || !take_number(width.substr(1), arg.bytes) || place.empty())
      return false;
    bool ok = true;
    if (place[0] == '$') {
      ok = take_number(place.substr(1), arg.constant);
    } else if (place.ends_with(')')) {
      arg.where = UsdtArgument::Where::Memory;
      place.remove_suffix(1);
      std::string_view displacement = cut(place, '(');
      ok = displacement.empty() || take_number(displacement, arg.constant);
      arg.base = place;
    } else {
      arg.where = UsdtArgument::Where::Register;
      arg.base = place;
    }
    probe.args.push_back(std::move(arg));
    return ok;
  }

  std::vector<std::string> lines_;
  size_t next_ = 0;  // the line to be read next, so also the number of the last one read
  TargetFile file_;
};

}  // namespace

Result<TargetFile> parse_target_file(std::string_view text) { return Parser(text).parse(); }

}  // namespace flowtap
