"""Runs inside the environment of ipykernel, and prints its figures as one line of JSON: rows of name, unit and samples, and what could not be measured.

    ipykernel_probe.py '{"cold": 5, "warm": 500, "cells": [100, 1000, 10000], "lines": [2000, 20000, 200000], "megabytes": [1, 10], "rounds": 3}'

A cell is timed from the request until the reply has come and the kernel has said that it is idle. *Cold* is from the start of the kernel to the first
reply. *Lines* are printed by a command in the kernel (`!seq`), *megabytes* by Python itself, which is many times quicker there. Memory is that of the
kernel; *kernel included* adds this client. Under load the kernel drops messages: where output, or the word that it is idle, was lost, the row
is left out and the loss is said.
"""
import json
import os
import sys
import time

from jupyter_client.manager import start_new_kernel

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from benchmark.clock import highest, resident, resident_family  # noqa: E402
from benchmark.output import MEGABYTE, text  # noqa: E402


PATIENCE = 60
CAT = "import sys\nwith open({!r}) as file:\n    while piece := file.read(1 << 16): sys.stdout.write(piece)"


class Lost(Exception):
    """Not all that was printed came."""


class Kernel:
    def __init__(self):
        self.manager, self.client = start_new_kernel()
        self.printed = 0

    def run(self, code):
        """Seconds of one cell; counts the characters it printed."""
        self.printed = 0
        began = time.perf_counter()
        reply = self.client.execute_interactive(code, store_history=True, output_hook=self.count, timeout=PATIENCE)
        taken = time.perf_counter() - began
        if reply["content"]["status"] != "ok":
            raise SystemExit(f"{code[:60]} failed: {reply['content']}")
        return taken

    def count(self, message):
        if message["msg_type"] == "stream":
            self.printed += len(message["content"]["text"].replace("\r", ""))

    @property
    def process(self):
        return self.manager.provisioner.pid

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def cold():
    began = time.perf_counter()
    kernel = Kernel()
    kernel.run("print(1)")
    taken = time.perf_counter() - began
    everything = resident_family(os.getpid())
    kernel.close()
    return taken, everything


def cells(rows, sizes):
    for count in sizes:
        kernel = Kernel()
        kernel.run("print(1)")
        before = resident(kernel.process)
        taken = [kernel.run("print(1)") for _ in range(count)]
        rows.append((f"{count:,} cells, each, whole session", "s", [sum(taken) / count]))
        rows.append((f"resident after {count:,} cells", "bytes", [resident(kernel.process)]))
        rows.append((f"resident, gained over {count:,} cells", "bytes", [resident(kernel.process) - before]))
        if count == sizes[-1]:
            tenth = count // 10
            rows.append((f"first {tenth:,} of {count:,} cells, run", "s", taken[:tenth]))
            rows.append((f"last {tenth:,} of {count:,} cells, run", "s", taken[-tenth:]))
        kernel.close()


def outputs(rows, missing, plan):
    wanted = [(f"{count:,} lines", f"!seq {count}", sum(len(f"{n}\n") for n in range(1, count + 1))) for count in plan["lines"]]
    wanted += [(f"{size} MB of output", CAT.format(text(os.getcwd(), size * MEGABYTE)), size * MEGABYTE) for size in plan["megabytes"]]
    for name, code, size in wanted:
        kernel = Kernel()
        kernel.run("1")
        try:
            taken = [whole(kernel, code, size) for _ in range(plan["rounds"])]
        except (Lost, TimeoutError) as lost:
            missing.append(f"ipykernel, {name}: {lost or 'the word that it is idle was lost'}")
        else:
            rows.append((name, "s", taken))
            rows.append((f"{name}, peak resident", "bytes", [highest(kernel.process)]))
        kernel.close()


def whole(kernel, code, size):
    taken = kernel.run(code)
    if kernel.printed != size:
        raise Lost(f"{kernel.printed:,} of {size:,} characters came")
    return taken


def main():
    plan, rows, missing = json.loads(sys.argv[1]), [], []
    colds = [cold() for _ in range(plan["cold"])]
    rows.append(("cold, python", "s", [one[0] for one in colds]))
    rows.append(("idle after a Python cell, kernel included", "bytes", [one[1] for one in colds]))
    kernel = Kernel()
    kernel.run("print(1)")
    warm = [kernel.run("print(1)") for _ in range(plan["warm"])]
    rows += [("warm cell, python", "s", warm), ("whole cycle, python", "s", warm)]
    kernel.close()
    cells(rows, plan["cells"])
    outputs(rows, missing, plan)
    print(json.dumps({"rows": rows, "missing": missing}))


if __name__ == "__main__":
    main()
