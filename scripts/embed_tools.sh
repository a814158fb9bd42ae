#!/bin/sh
# Writes the scripts under tools/ as a C++ table, so that the binary carries them: embed_tools.sh DIRECTORY
set -eu
cd "$1"
echo '// Made by scripts/embed_tools.sh.'
echo 'inline constexpr EmbeddedFile kEmbeddedFiles[] = {'
find . -name '*.bt' | LC_ALL=C sort | while read -r file; do
  printf '    {"%s", R"flowtap_bt(' "${file#./}"
  cat "$file"
  printf ')flowtap_bt"},\n'
done
echo '};'
