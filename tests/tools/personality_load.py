#!/usr/bin/env python3
"""Calls that nobody else makes: personality_load.py QUERIES RESETS SLEEPS. Queries personality(2) so many times, sets it to
0 so many times, and sleeps 20 ms so many times with usleep(3). Calls itself "personality"."""

import ctypes
import sys

with open("/proc/self/comm", "w") as comm:
    comm.write("personality")
queries, resets, sleeps = map(int, sys.argv[1:4])
libc = ctypes.CDLL("libc.so.6", use_errno=True)
for _ in range(queries):
    libc.personality(ctypes.c_ulong(0xFFFFFFFF))
for _ in range(resets):
    libc.personality(ctypes.c_ulong(0))
for _ in range(sleeps):
    libc.usleep(20000)
