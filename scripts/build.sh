#!/bin/bash
# Installs missing packages, configures and builds: build.sh BUILD_DIRECTORY Release|Sanitize|Fuzz [TARGET...]
# Shows how far it is where there is something to build.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
directory=$1 kind=$2
shift 2

packages=(g++ cmake ninja-build libbpf-dev libelf-dev libdw-dev zlib1g-dev libfmt-dev linux-libc-dev)
if [ "$kind" = Sanitize ]; then packages+=(libgtest-dev systemtap-sdt-dev); fi
if [ "$kind" = Fuzz ]; then packages+=(clang libclang-rt-14-dev); fi
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ]; then
    echo "these packages are missing: ${missing[*]}" >&2
    echo "hint: install them, or run this as root" >&2
    exit 3
  fi
  echo "installing ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
options=(-DCMAKE_BUILD_TYPE=Release -DFLOWTAP_TESTS=OFF)
if [ "$kind" = Sanitize ]; then options=(-DCMAKE_BUILD_TYPE=Debug -DFLOWTAP_SANITIZE=ON -DFLOWTAP_TESTS=ON); fi
if [ "$kind" = Fuzz ]; then
  options=(-DCMAKE_BUILD_TYPE=Debug -DFLOWTAP_FUZZ=ON -DFLOWTAP_TESTS=OFF -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
fi
failed() {
  cat "$log" >&2
  exit 1
}
cmake -G Ninja -S "$root" -B "$directory" "${options[@]}" > "$log" 2>&1 || failed

# Reads what ninja prints. A terminal gets one line that counts; anything else four lines of a long build.
show_progress() {
  local line done total
  while IFS= read -r line; do
    if [[ ! $line =~ ^\[([1-9][0-9]*)/([0-9]+)\] ]]; then continue; fi
    done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    if [ -t 2 ]; then
      printf '\rbuilding %s: %s of %s ' "$(basename "$directory")" "$done" "$total" >&2
    elif [ "$total" -ge 10 ] && [ $((done * 4 / total)) -gt $(((done - 1) * 4 / total)) ]; then
      echo "building $(basename "$directory"): $done of $total" >&2
    fi
  done
  if [ -t 2 ] && [ -n "${total:-}" ]; then echo >&2; fi
}
ninja -C "$directory" "$@" 2>&1 | tee "$log" | show_progress || failed
