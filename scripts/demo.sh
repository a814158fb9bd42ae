#!/bin/bash
# A short demonstration on traffic it makes itself: demo.sh FLOWTAP
set -euo pipefail
flowtap=$1
if [ "$(id -u)" != 0 ]; then
  echo "the demonstration traces the kernel and has to run as root" >&2
  exit 3
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/load.sh" <<'L'
for i in 1 2 3 4 5 6 7 8; do
  head -c $((i * 3000)) /dev/zero > "$1/file$i"
  cat "$1/file$i" > /dev/null
done
L

show() { printf '\n# flowtap %s\n' "$*"; "$flowtap" -q "$@"; }

echo 'Who opens which file? One line per event:'
show -c "bash $work/load.sh $work" -e \
  'tracepoint:syscalls:sys_enter_openat /strcontains(str(args.filename), "/file")/ { printf("%-6d %-8s %s\n", pid, comm, str(args.filename)); }'
echo 'How large are the writes? A histogram made in the kernel:'
show -c "bash $work/load.sh $work" -e 'tracepoint:syscalls:sys_exit_write /comm == "head" && args.ret > 0/ { @bytes = hist(args.ret); }'
echo 'How long do reads take? Two probes and a map:'
show -c "bash $work/load.sh $work" -e \
  'tracepoint:syscalls:sys_enter_read { @start[tid] = nsecs; }
   tracepoint:syscalls:sys_exit_read /@start[tid]/ { @us[comm] = hist((nsecs - @start[tid]) / 1000); delete(@start, tid); }
   end { clear(@start); }'
echo 'Next: build/flowtap --help, and README.md.'
