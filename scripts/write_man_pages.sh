#!/bin/sh
# Writes the man pages of flowtap and of every tool: write_man_pages.sh FLOWTAP DIRECTORY
set -eu
flowtap=$1 directory=$2
mkdir -p "$directory"
"$flowtap" --docs man > "$directory/flowtap.1"
"$flowtap" tools | sed -n 's/^  \([a-z0-9_-]*\) .*/\1/p' | while read -r name; do
  "$flowtap" --docs man "$name" > "$directory/flowtap-$name.1"
done
