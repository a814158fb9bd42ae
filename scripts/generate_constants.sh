#!/bin/sh
# Writes the table of UAPI constants: generate_constants.sh CXX > header
# Every object-like macro of the headers below that is an integer constant becomes one entry; the
# compiler itself decides which are, so no number is ever typed by hand.
set -eu
cxx=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/headers.h" <<'H'
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/futex.h>
#include <linux/fs.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/inet_diag.h>
#include <linux/io_uring.h>
#include <linux/limits.h>
#include <linux/major.h>
#include <linux/netlink.h>
#include <linux/nvme_ioctl.h>
#include <linux/perf_event.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/snmp.h>
#include <linux/sockios.h>
#include <linux/udp.h>
#include <linux/unistd.h>
H
"$cxx" -E -dM -x c++ "$work/headers.h" | sed -n 's/^#define \([A-Z][A-Z0-9_]*\) \(..*\)$/\1/p' |
  grep -E '^(AF|PF|SOCK|SOL|SO|IPPROTO|IP|IPV6|TCP|UDP|MSG|O|S|E[A-Z0-9]+$|POLL|SIG|EPOLL|MAP|PROT|CLONE|SHUT|INADDR|ETH|ICMP|ICMPV6|NETLINK|RTM|FUTEX|AT|SEEK|F|LOCK|SCHED|TC|SIOC|IORING|TCPF|NVME|PACKET|CLD|WNOHANG|DT|RWF|RENAME|PATH_MAX$|NAME_MAX$)' |
  sort -u > "$work/names"

# Enumerators that headers declare without a macro of the same name.
printf 'TCP_%s\n' ESTABLISHED SYN_SENT SYN_RECV FIN_WAIT1 FIN_WAIT2 TIME_WAIT CLOSE CLOSE_WAIT LAST_ACK \
  LISTEN CLOSING >> "$work/names"

# One line per name; the lines that the compiler refuses are emptied until the rest compiles.
{
  cat "$work/headers.h"
  cat <<'C'
#include <cstdio>
#include <type_traits>
template <typename T> void print(const char* name, T value) {
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
    std::printf("    {\"%s\", %lldLL, %d},\n", name, (long long)value, std::is_enum_v<T>);
}
int main() {
C
  sed 's/.*/  print("&", (&));/' "$work/names"
  echo '}'
} > "$work/try.cc"
for _ in 1 2 3 4 5 6 7 8; do
  if "$cxx" -std=c++20 -w -fmax-errors=0 -o "$work/try" "$work/try.cc" 2> "$work/errors"; then break; fi
  grep -o 'try\.cc:[0-9]*:[0-9]*: error' "$work/errors" | cut -d: -f2 | sort -u > "$work/lines"
  awk 'NR == FNR { bad[$1] = 1; next } bad[FNR] && /^  print\(/ { print ""; next } { print }' "$work/lines" "$work/try.cc" > "$work/next.cc"
  mv "$work/next.cc" "$work/try.cc"
done

echo '#pragma once'
echo '// Constants of the UAPI headers by name, sorted. Generated when the project is built.'
echo '#include <cstdint>'
echo '#include <string_view>'
echo 'struct UapiConstant {'
echo '  std::string_view name;'
echo '  int64_t value;'
echo '  bool is_enumerator;'
echo '};'
echo 'static constexpr UapiConstant kUapiConstants[] = {'
"$work/try" | LC_ALL=C sort -t'"' -k2,2 -u
echo '};'
