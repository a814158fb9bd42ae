#!/bin/sh
# Writes the table of system call names from the kernel's own header: generate_syscalls.sh COMPILER > header
set -eu
echo '#pragma once'
echo '// System call names by number, from <asm/unistd_64.h>. Generated when the project is built.'
echo 'static constexpr const char* kSyscallNames[] = {'
echo '#include <asm/unistd_64.h>' | "$1" -E -dM -x c - |
  sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/\2 \1/p' | sort -n |
  awk '{ while (next_number < $1) { print "    nullptr,"; next_number++ } printf "    \"%s\",\n", $2; next_number = $1 + 1 }'
echo '};'
