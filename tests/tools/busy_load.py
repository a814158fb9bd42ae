"""Keeps a CPU busy in a function of the C library, until it has used so many seconds of CPU time; starts when a line comes on stdin, after it
has said that it is ready."""

import ctypes
import json
import os
import sys
import time

libc = ctypes.CDLL(None)
numbers = (ctypes.c_int * 100_000)()
print("ready", flush=True)
sys.stdin.readline()
before = time.process_time()
while time.process_time() - before < float(sys.argv[1]):
    libc.memfrob(numbers, 400_000)
print(json.dumps({"pid": os.getpid(), "seconds": time.process_time() - before}))
