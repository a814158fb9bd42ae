"""Runs functions side by side, each in a process of its own: a test may count what its own process does, enter a namespace,
change its limits, and break without harm to others."""

import os
import pickle
import selectors
import signal
import sys
import time
import traceback
from dataclasses import dataclass

import features

HANGS = 300 * features.SLOWER  # seconds after which a test is ended; the tests have limits of their own


@dataclass
class Child:
    job: object
    pid: int
    started: float
    text: bytes = b""


def start(job, function):
    sys.stdout.flush()
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        try:
            outcome = function(job)
        except BaseException:
            outcome = traceback.format_exc()
        sys.stdout.flush()
        with os.fdopen(theirs, "wb") as pipe:
            pickle.dump(outcome, pipe)
        os._exit(0)
    os.close(theirs)
    return ours, Child(job, pid, time.monotonic())


def finish(child):
    """Nothing that the test started outlives it."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    os.waitpid(child.pid, 0)
    seconds = time.monotonic() - child.started
    try:
        return child.job, pickle.loads(child.text), seconds
    except Exception:
        return child.job, f"  it gave no answer within {seconds:.0f} s\n", seconds


def run(jobs, function, workers, group=lambda job: "", hangs=HANGS):
    """(job, what function(job) gives, seconds) of each, as they end. Two of one group never run at once."""
    jobs, running = list(jobs), selectors.DefaultSelector()
    try:
        while jobs or running.get_map():
            while len(running.get_map()) < workers:
                busy = {group(key.data.job) for key in running.get_map().values()} - {""}
                job = next((job for job in jobs if group(job) not in busy), None)
                if job is None:
                    break
                jobs.remove(job)
                ours, child = start(job, function)
                running.register(ours, selectors.EVENT_READ, child)
            for key, _ in running.select(timeout=1):
                part = os.read(key.fd, 1 << 20)
                key.data.text += part
                if not part:
                    running.unregister(key.fd)
                    os.close(key.fd)
                    yield finish(key.data)
            for key in list(running.get_map().values()):
                if time.monotonic() - key.data.started > hangs:
                    os.killpg(key.data.pid, signal.SIGKILL)
    finally:
        for key in list(running.get_map().values()):
            finish(key.data)
