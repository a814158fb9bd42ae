// Says one line through puts(3).
#include <cstdio>

int main() {
  const char* text = "hello from puts";
  // Probes cannot wait for a page that is not in memory yet, so the text is read once before.
  if (*const_cast<const volatile char*>(text) == '\0') return 1;
  std::puts(text);
  return 0;
}
