"""What the figures were measured on, and whether the machine was otherwise busy.

A busy machine makes figures worthless: the script says so before it begins (load average, and a second of watching) and when it
ends (processor time that others used meanwhile), both from `/proc`. A load average alone would also tell of a build that has just ended.
"""
import ctypes
import os
import platform
import resource
import time


def description():
    return f"{os.cpu_count()} cores, {platform.system()} {platform.release()}, {platform.machine()}"


PR_SET_CHILD_SUBREAPER = 36


class Others:
    """How much the rest of the machine works while we measure."""

    def __init__(self):
        # Sandboxes outlive the program that made them by a moment; what they used comes to us and is not taken for others' work.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        before = busy()
        time.sleep(1)
        self.first, self.load = busy() - before, os.getloadavg()[0]
        self.began, self.busy, self.own = time.monotonic(), busy(), own()

    def at_start(self):
        text = f"load average {self.load:.1f}, {self.first:.2f} cores in use before the start"
        if self.first > 0.15 * os.cpu_count():
            return f"THE MACHINE IS BUSY ({text}): these figures are worthless, wait until it is idle"
        return text

    def at_end(self):
        """Cores that others kept busy, on average over the run."""
        time.sleep(0.5)
        reap()
        cores = max(0.0, (busy() - self.busy) - (own() - self.own)) / (time.monotonic() - self.began)
        text = f"others used {cores:.2f} cores on average while this ran"
        if cores > 0.15 * os.cpu_count():
            return f"THE MACHINE WAS BUSY ({text}): these figures are worthless"
        return text


def busy():
    """Seconds that all cores together were not idle."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _waiting, *others = map(int, file.readline().split()[1:])
    return (user + nice + system + sum(others[:3])) / os.sysconf("SC_CLK_TCK")


def reap():
    """Takes in what has ended and nobody waited for."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def own():
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
