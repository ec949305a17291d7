"""Checkpoints: what a cell costs with a copy of the kernel before it, in a Python that has loaded pandas.

A chat at a terminal copies the kernel before each cell, for `/rewind`; a session with `--json` does not. All run the same cells, and the
records' own times from `run_started` to `run_finished` count. *Asked*: somebody answers yes to each cell.
*Approved in advance*: with `--yes`. *Added* is the time of a cell less the median of those
with `--json`. The display of a terminal adds to it; the rows for shell, whose kernel is not copied, show how much.
"""
import json
import os
import statistics
import subprocess

from benchmark.environment import python_with
from benchmark.keys import MARK, QUESTION
from benchmark.program import Cells
from benchmark.table import Below
from benchmark.terminal import Terminal

CELLS = (("python with pandas", "python", "import pandas; print(1)"), ("shell", "shell", "echo 1"))
END = rb"that was all\s[^>]*> $"


def measure(table, program, target, count, rounds):
    python = python_with(os.path.join(target, "pandas"), ["pandas"], "import pandas")
    path = f"{os.path.dirname(python)}:{os.environ['PATH']}"
    program.options["env"].update(VIRTUAL_ENV=os.path.dirname(os.path.dirname(python)), PATH=path)
    for name, language, code in CELLS:
        asked, approved, bare = [], [], []
        for _ in range(rounds):
            asked += at_terminal(program, language, code, count // 4, asked=True)
            approved += at_terminal(program, language, code, count, asked=False)
            bare += program.cells(language, code, count).warm()
        usual = statistics.median(bare)
        for how, taken in (("asked", asked), ("approved in advance", approved)):
            row = table.row(f"warm cell, {name}, at a terminal, {how} (floor: `--json`)")
            row.put("ours", taken)
            row.put("floor", bare)
            added = sorted(one - usual for one in taken)
            goals = [Below(0.005, "s")] if language == "python" else []
            table.row(f"added at a terminal, {name}, {how}", goals=goals).put("ours", added)
            table.row(f"added at a terminal, {name}, {how}, nine of ten", goals=goals).put("ours", [added[len(added) * 9 // 10]])


def at_terminal(program, language, code, count, asked):
    """Seconds of each cell but the first, in one chat in which the same cell runs many times."""
    script = program.script([(language, code)] * count, end="that was all")
    command = [program.binary, *([] if asked else ["--yes"]), "--max-calls", str(count + 1), "--model", f"scripted:{script}", "go"]
    terminal = Terminal(command, program.options["cwd"], program.options["env"])
    try:
        for _ in range(count if asked else 0):
            terminal.until(QUESTION)
            terminal.until(MARK)
            terminal.type("y")
        terminal.until(END)
        terminal.type("/quit\r")
        terminal.ends()
    finally:
        terminal.close()
    shown = subprocess.run([program.binary, "history", "show", "--json"], capture_output=True, text=True, check=True, **program.options)
    session = Cells()
    for line in shown.stdout.splitlines():
        kind = json.loads(line)["kind"]
        if kind in ("run_started", "run_finished"):
            (session.started if kind == "run_started" else session.finished).append(line)
    return session.warm()
