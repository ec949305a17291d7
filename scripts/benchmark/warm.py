"""Warm cells: Python, shell and JavaScript in a session whose kernel already runs.

- *Warm cell* is from the record `run_started` to the record `run_finished`, by the records' own times: code in, output out, changed files
  looked for, records written and linked.
- *Whole cycle* is from one `run_finished` to the next, likewise: the (scripted) model's reply, analysis, rules, run, every record, and the JSON
  of it. (What a client sees is in `many.py`: of one cell it would measure its own lag too.)
- The floor is one line through a pipe to a warm interpreter that evaluates it, and one line back.
"""
import subprocess
import time

from benchmark.table import AtMost, Faster

LANGUAGES = (
    ("python", "print(1)", lambda python: [python, "-u", "-c", "import sys\nfor line in sys.stdin: exec(line)"]),
    ("shell", "echo hi", lambda _: ["bash"]),
    ("javascript", "console.log(1)", lambda _: ["node", "-e", "require('readline').createInterface({input: process.stdin}).on('line', eval)"]),
)


def measure(table, program, python, cells):
    for language, code, bare in LANGUAGES:
        goals = [Faster(500, "original")]
        if language == "python":
            goals.append(AtMost(5, "floor"))
        row, cycle = table.row(f"warm cell, {language}", goals=goals), table.row(f"whole cycle, {language}")
        floor = round_trips(bare(python), f"{code}\n".encode(), cells)
        session = program.cells(language, code, cells)
        row.put("ours", session.warm())
        cycle.put("ours", session.cycles())
        row.put("floor", floor)
        cycle.put("floor", floor)


def round_trips(command, question, count):
    """Seconds for one line to a warm process and one line back, each of them but the first."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    taken = []
    try:
        for _ in range(count):
            began = time.perf_counter()
            process.stdin.write(question)
            process.stdout.readline()
            taken.append(time.perf_counter() - began)
    finally:
        process.stdin.close()
        process.kill()
        process.wait()
        process.stdout.close()
    return taken[1:]
