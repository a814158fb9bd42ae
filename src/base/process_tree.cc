// Children of processes; see process_tree.h. Each thread has its own list of children.

#include "base/process_tree.h"

#include "base/directory.h"
#include "base/text.h"

namespace flowtap {

std::vector<pid_t> process_tree(pid_t root) {
  std::vector<pid_t> all = {root};
  for (size_t i = 0; i < all.size(); i++) {
    std::string directory = "/proc/" + std::to_string(all[i]) + "/task";
    Result<std::vector<std::string>> threads = names_in(directory);
    if (!threads) continue;  // it has ended: nothing to follow
    for (const std::string& thread : *threads) {
      std::optional<std::string> children = read_file(directory + "/" + thread + "/children");
      if (!children) continue;
      for (const std::string& word : split(*children, ' '))
        if (std::optional<int64_t> pid = parse_number(word))
          all.push_back(static_cast<pid_t>(*pid));
    }
  }
  return all;
}

}  // namespace flowtap
