// Feeds kept inputs to the fuzz targets, without libFuzzer: replay FOLDER, which holds one folder
// of inputs per target. The last line that it writes names the input it was at.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

// The build gives each target's function the name of its file.
using Target = int(const uint8_t*, size_t);
extern "C" Target fuzz_btf, fuzz_c_declarations, fuzz_cells, fuzz_compiler, fuzz_debug_info,
    fuzz_elf, fuzz_indirect, fuzz_lexer, fuzz_maps, fuzz_names, fuzz_parser, fuzz_records,
    fuzz_tracefs, fuzz_unwind, fuzz_usdt_operands;

namespace fs = std::filesystem;

int main(int argc, char** argv) {
  const std::map<std::string, Target*> targets = {
      {"btf", fuzz_btf},
      {"c_declarations", fuzz_c_declarations},
      {"cells", fuzz_cells},
      {"compiler", fuzz_compiler},
      {"debug_info", fuzz_debug_info},
      {"elf", fuzz_elf},
      {"indirect", fuzz_indirect},
      {"lexer", fuzz_lexer},
      {"maps", fuzz_maps},
      {"names", fuzz_names},
      {"parser", fuzz_parser},
      {"records", fuzz_records},
      {"tracefs", fuzz_tracefs},
      {"unwind", fuzz_unwind},
      {"usdt_operands", fuzz_usdt_operands},
  };
  if (argc != 2) return 2;
  size_t count = 0;
  for (const fs::directory_entry& folder : fs::directory_iterator(argv[1])) {
    Target* target = targets.at(folder.path().filename());
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);
      std::ifstream file(entry.path(), std::ios::binary);
      std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
      target(bytes.data(), bytes.size());
      count++;
    }
  }
  std::printf("%zu inputs\n", count);
}
