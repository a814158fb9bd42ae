// is_json() is a recursive descent that keeps nothing; read_csv() a walk over cells.

#include "formats.h"

namespace flowtap::fuzz {
namespace {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  bool whole() {
    blanks();
    if (!value(0)) return false;
    blanks();
    return rest_.empty();
  }

 private:
  bool value(int depth) {
    if (depth > 200 || rest_.empty()) return false;
    switch (rest_[0]) {
      case '{': return members('}', true, depth);
      case '[': return members(']', false, depth);
      case '"': return string();
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }

  bool members(char end, bool has_keys, int depth) {
    rest_.remove_prefix(1);
    blanks();
    if (word(std::string_view(&end, 1))) return true;
    while (true) {
      if (has_keys) {
        blanks();
        if (!string()) return false;
        blanks();
        if (!word(":")) return false;
      }
      blanks();
      if (!value(depth + 1)) return false;
      blanks();
      if (word(std::string_view(&end, 1))) return true;
      if (!word(",")) return false;
    }
  }

  bool string() {
    if (!word("\"")) return false;
    while (!rest_.empty()) {
      unsigned char c = static_cast<unsigned char>(rest_[0]);
      if (c < 0x20) return false;
      if (word("\"")) return true;
      if (c == '\\' ? !escape() : !character()) return false;
    }
    return false;
  }

  bool escape() {
    rest_.remove_prefix(1);
    if (rest_.empty()) return false;
    if (rest_[0] != 'u') {
      bool is_known = std::string_view("\"\\/bfnrt").find(rest_[0]) != std::string_view::npos;
      rest_.remove_prefix(1);
      return is_known;
    }
    if (rest_.size() < 5) return false;
    bool is_hex =
        rest_.substr(1, 4).find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    rest_.remove_prefix(5);
    return is_hex;
  }

  // One character of UTF-8: RFC 3629, section 4.
  bool character() {
    unsigned char lead = static_cast<unsigned char>(rest_[0]);
    size_t length = lead < 0x80   ? 1
                    : lead < 0xc2 ? 0
                    : lead < 0xe0 ? 2
                    : lead < 0xf0 ? 3
                    : lead < 0xf5 ? 4
                                  : 0;
    if (length == 0 || rest_.size() < length) return false;
    uint32_t code = length == 1 ? lead : lead & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
      unsigned char next = static_cast<unsigned char>(rest_[i]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3fu);
    }
    rest_.remove_prefix(length);
    constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    return code >= kSmallest[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  }

  bool number() {
    word("-");
    if (!word("0") && !digits()) return false;
    if (word(".") && !digits()) return false;
    if (word("e") || word("E")) {
      if (!word("+")) word("-");
      return digits();
    }
    return true;
  }

  bool digits() {
    size_t count = 0;
    while (count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9') count++;
    rest_.remove_prefix(count);
    return count > 0;
  }

  void blanks() {
    while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_[0]) != std::string_view::npos)
      rest_.remove_prefix(1);
  }

  bool word(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  std::string_view rest_;
};

// A cell from the front of the text; nothing when it is no valid one.
std::optional<std::string> read_cell(std::string_view& text) {
  std::string cell;
  if (!text.starts_with('"')) {
    size_t end = std::min(text.find_first_of(",\n"), text.size());
    cell = text.substr(0, end);
    text.remove_prefix(end);
    if (cell.find_first_of("\"\r") != std::string::npos) return std::nullopt;
    return cell;
  }
  text.remove_prefix(1);
  while (true) {
    size_t quote = text.find('"');
    if (quote == std::string_view::npos) return std::nullopt;
    cell += text.substr(0, quote);
    text.remove_prefix(quote + 1);
    if (!text.starts_with('"')) return cell;
    cell += '"';
    text.remove_prefix(1);
  }
}

}  // namespace

bool is_json(std::string_view text) { return JsonReader(text).whole(); }

std::optional<std::vector<std::vector<std::string>>> read_csv(std::string_view text) {
  std::vector<std::vector<std::string>> records;
  while (!text.empty()) {
    std::vector<std::string> cells;
    while (!text.starts_with('\n')) {
      std::optional<std::string> cell = read_cell(text);
      if (!cell || text.empty()) return std::nullopt;
      cells.push_back(std::move(*cell));
      if (text.starts_with('\n')) break;
      if (!text.starts_with(',')) return std::nullopt;
      text.remove_prefix(1);
      if (text.starts_with('\n')) cells.push_back("");
    }
    text.remove_prefix(1);
    records.push_back(std::move(cells));
  }
  return records;
}

}  // namespace flowtap::fuzz
