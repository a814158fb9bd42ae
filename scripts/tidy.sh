#!/bin/bash
# Runs clang-tidy on all sources, grouped as they are compiled: tidy.sh BUILD_DIRECTORY. Prints what it finds.
# The build directory is only configured: clang-tidy reads its list of commands.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
directory=$1
cmake -G Ninja -S "$root" -B "$directory" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DFLOWTAP_TESTS=OFF \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON > /dev/null
ninja -C "$directory" generated_headers > /dev/null
find "$directory/CMakeFiles/flowtap_core.dir/Unity" -name '*.cxx' -print0 |
  xargs -0 -P "$(nproc)" -n 1 clang-tidy --quiet -p "$directory" --extra-arg=-Wno-ignored-optimization-argument 2> /dev/null
