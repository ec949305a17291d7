"""Clocks and scales: time, processor time and memory of commands and processes.

Processor time is that of a command and of all it waited for, as the kernel counts it (`wait4`).
Memory is read from `/proc`: `VmRSS` now, `VmHWM` at most. (`ru_maxrss` is not used: it begins with the
size of the process that forked.)
"""
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass

QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Failed(Exception):
    """Something that was to be measured did not do its work."""


@dataclass
class Spent:
    wall: float
    processor: float
    peak: int
    size: int
    tail: bytes


def wall(command, **options):
    """Seconds from start to end of a command."""
    began = time.perf_counter()
    done = subprocess.run(command, **QUIET, **options)
    taken = time.perf_counter() - began
    if done.returncode:
        raise Failed(f"{' '.join(command)[:120]} ended with {done.returncode}")
    return taken


def processor(command, **options):
    """Seconds of processor time of a command."""
    return drained(command, **options).processor


def drained(command, **options):
    """Runs a command, reads all it prints through a pipe, and says what that cost."""
    complaint = tempfile.TemporaryFile()
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaint, bufsize=0, **options)
    size, looked, peak, tail = 0, 0, highest(process.pid), b""
    while piece := os.read(process.stdout.fileno(), 1 << 20):
        size += len(piece)
        tail = (tail + piece[-2000:])[-2000:]
        if size - looked > 1 << 20 or not looked:
            looked, peak = size, max(peak, highest(process.pid))
    _, status, usage = os.wait4(process.pid, 0)
    taken = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode:
        complaint.seek(0)
        said = complaint.read().decode(errors="replace").strip()
        raise Failed(f"{' '.join(command)[:120]} ended with {process.returncode}: {said[-300:]}")
    return Spent(taken, usage.ru_utime + usage.ru_stime, peak, size, tail)


def alternated(rounds, **sides):
    """Calls each side in turn, so that all see the same weather; the samples by side."""
    samples = {side: [] for side in sides}
    for _ in range(rounds):
        for side, once in sides.items():
            samples[side].append(once())
    return samples


def resident(process):
    """Bytes of a process that are in memory now."""
    return of_status(process, "VmRSS:")


def highest(process):
    """Bytes of a process that were in memory at most, so far."""
    return of_status(process, "VmHWM:")


def of_status(process, field):
    try:
        with open(f"/proc/{process}/status") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith(field)), 0)
    except OSError:
        return 0


def family(process):
    """A process and all that come from it."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                parents.setdefault(int(file.read().rpartition(")")[2].split()[1]), []).append(int(name))
        except OSError:
            pass  # It has ended meanwhile.
    found, left = [], [process]
    while left:
        found.append(left.pop())
        left += parents.get(found[-1], [])
    return found


def resident_family(process):
    """Bytes of a process and all that come from it; a page that several share counts once."""
    return sum(proportional(one) for one in family(process))


def proportional(process):
    try:
        with open(f"/proc/{process}/smaps_rollup") as file:
            return next((int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:")), 0)
    except OSError:
        return resident(process)
