#!/bin/sh
# Writes the scripts under tools/ as a C++ table, compressed, so that the binary carries them: embed_tools.sh DIRECTORY
set -eu
cd "$1"
echo '// Made by scripts/embed_tools.sh.'
echo 'inline constexpr EmbeddedFile kEmbeddedFiles[] = {'
find . -name '*.bt' | LC_ALL=C sort | while read -r file; do
  printf '    {"%s", std::string_view(\n' "${file#./}"
  gzip -9nc "$file" | od -An -v -tx1 | sed 's/ /\\x/g; s/.*/        "&"/'
  printf '        , %s)},\n' "$(gzip -9nc "$file" | wc -c)"
done
echo '};'
