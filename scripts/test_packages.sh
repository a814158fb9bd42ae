#!/bin/bash
# Installs what the tests need beyond the build: Python for the runner, clang for BPF programs to trace, clang-format and clang-tidy
# for the style checks, bpftrace to compare with, a browser to look at pictures, tools that make workloads, and what boots guests.
set -euo pipefail
missing=()
for package in python3 clang clang-format clang-tidy bpftrace bpftool file iproute2 procps systemtap-sdt-dev \
  qemu-system-x86 busybox-static cpio kmod xz-utils zstd chromium; do
  dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" != 0 ]; then
  echo "these packages are missing: ${missing[*]}; tests that need them are skipped" >&2
  exit 0
fi
echo "installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2
apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
