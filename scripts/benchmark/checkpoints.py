"""Checkpoints: what a cell costs with a checkpoint before it, in a Python that has loaded pandas.

A chat at a terminal keeps a checkpoint before each cell, for `/rewind`; a session with `--json` does not. The kernel is copied after each run,
so a cell waits for its copy only if it comes at once. All run the same cells, and the records' own times from `run_started` to `run_finished`
count. *After a thought*: a prompt for each cell, 0.1 s after the last one was answered, with `--yes`. *Asked*: somebody answers yes to each
cell, which takes 0.2 s and more. *Without a pause*: one cell right after another, with `--yes`. *Added* is the time of a cell less the median
of those with `--json`, which have no pause. The display of a terminal adds to it, and so does a machine that has slept; the rows for shell,
whose kernel is not copied, show how much.
"""
import json
import os
import statistics
import subprocess

from benchmark.environment import python_with
from benchmark.keys import MARK, PROMPT, QUESTION
from benchmark.program import Cells
from benchmark.table import Below
from benchmark.terminal import Terminal

CELLS = (("python with pandas", "python", "import pandas; print(1)"), ("shell", "shell", "echo 1"))
END = rb"that was all\s[^>]*> $"
THOUGHT = 0.1


def measure(table, program, target, count, rounds):
    python = python_with(os.path.join(target, "pandas"), ["pandas"], "import pandas")
    path = f"{os.path.dirname(python)}:{os.environ['PATH']}"
    program.options["env"].update(VIRTUAL_ENV=os.path.dirname(os.path.dirname(python)), PATH=path)
    for name, language, code in CELLS:
        thought, asked, approved, bare = [], [], [], []
        for _ in range(rounds):
            thought += after_thoughts(program, language, code, count // 4)
            asked += at_terminal(program, language, code, count // 4, asked=True)
            approved += at_terminal(program, language, code, count, asked=False)
            bare += program.cells(language, code, count).warm()
        usual = statistics.median(bare)
        for how, taken in (("after a thought", thought), ("asked", asked), ("without a pause", approved)):
            row = table.row(f"warm cell, {name}, at a terminal, {how} (floor: `--json`)")
            row.put("ours", taken)
            row.put("floor", bare)
            added = sorted(one - usual for one in taken)
            goals = [Below(0.005, "s")] if language == "python" else []
            table.row(f"added at a terminal, {name}, {how}", goals=goals).put("ours", added)
            table.row(f"added at a terminal, {name}, {how}, nine of ten", goals=goals).put("ours", [added[len(added) * 9 // 10]])


def after_thoughts(program, language, code, count):
    """Seconds of each cell but the first, in one chat in which a person thinks for a moment before each prompt."""
    script = program.script([(language, code), None] * count, end="that was all")
    terminal = chat(program, script, ["--yes"], [])
    try:
        terminal.until(PROMPT)
        for _ in range(count):
            terminal.settle(THOUGHT)
            terminal.type("go\r")
            terminal.until(END)
        return recorded(program, terminal)
    finally:
        terminal.close()


def at_terminal(program, language, code, count, asked):
    """Seconds of each cell but the first, in one chat in which the same cell runs many times."""
    script = program.script([(language, code)] * count, end="that was all")
    terminal = chat(program, script, [] if asked else ["--yes"], ["--max-calls", str(count + 1), "go"])
    try:
        for _ in range(count if asked else 0):
            terminal.until(QUESTION)
            terminal.until(MARK)
            terminal.type("y")
        terminal.until(END)
        return recorded(program, terminal)
    finally:
        terminal.close()


def chat(program, script, options, rest):
    command = [program.binary, *options, "--model", f"scripted:{script}", *rest]
    return Terminal(command, program.options["cwd"], program.options["env"])


def recorded(program, terminal):
    """Ends the chat, and gives the seconds of each cell but the first, by its record."""
    terminal.type("/quit\r")
    terminal.ends()
    shown = subprocess.run([program.binary, "history", "show", "--json"], capture_output=True, text=True, check=True, **program.options)
    session = Cells()
    for line in shown.stdout.splitlines():
        kind = json.loads(line)["kind"]
        if kind in ("run_started", "run_finished"):
            (session.started if kind == "run_started" else session.finished).append(line)
    return session.warm()
