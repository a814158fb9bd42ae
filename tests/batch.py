"""Runs command lines of flowtap one after the other in one program (tests/batch/batch.cc), as many of them as there are workers.
In a guest, starting a program takes longer than most scripts."""

import os
import queue
import subprocess
import threading
from dataclasses import dataclass


@dataclass
class Done:
    """As subprocess.run() gives it."""
    returncode: int
    stdout: bytes
    stderr: bytes


class Runner:
    def __init__(self, program):
        self.program, self.process = program, None

    def run(self, arguments, timeout):
        if self.process is None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        words = [str(len(arguments)), *arguments]
        timer = threading.Timer(timeout, lambda: os.killpg(self.process.pid, 9))
        timer.start()
        try:
            self.process.stdin.write(b"".join(word.encode() + b"\0" for word in words))
            self.process.stdin.flush()
            head = self.process.stdout.readline().split()
            if len(head) != 3:
                self.process.kill()
                self.process.wait()
                self.process = None
                raise subprocess.TimeoutExpired(arguments, timeout)
            code, out, err = map(int, head)
            return Done(code, self.process.stdout.read(out), self.process.stdout.read(err))
        finally:
            timer.cancel()

    def end(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


class Pool:
    """Runners for several threads."""

    def __init__(self, program, count):
        self.runners = [Runner(program) for _ in range(count)]
        self.free = queue.Queue()
        for runner in self.runners:
            self.free.put(runner)

    def run(self, arguments, timeout):
        runner = self.free.get()
        try:
            return runner.run(arguments, timeout)
        finally:
            self.free.put(runner)

    def end(self):
        for runner in self.runners:
            runner.end()
