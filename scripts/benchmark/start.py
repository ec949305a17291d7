"""Starting: `--version`, start to prompt, cold first result; and what lies in memory when idle.

- *Fork and execute*: `/bin/true`, the least that starting any program costs.
- *`--version`*: wall and processor time of the whole command.
- *Start to prompt*: in a pseudo-terminal, from the fork until the prompt is drawn.
- *Cold*: the whole command `interpreter run -l LANGUAGE -c CODE`: settings, record, sandbox, interpreter, result,
  everything ended again. The floor is the bare interpreter with the same code.
- *Idle*: a chat that waits at its prompt, two seconds after it was drawn. *The program alone* is its own
  process; *kernel included* is all of its processes together, shared pages counted once. The floor
  is a bare interactive Python.
"""
import subprocess

from benchmark.clock import alternated, drained, resident, resident_family, wall
from benchmark.table import AtMost, Below
from benchmark.terminal import Terminal

PROMPT = rb"> $"
COLD = (
    ("python", "print(1)", lambda python: [python, "-c", "print(1)"]),
    ("shell", "echo hi", lambda _: ["bash", "-c", "echo hi"]),
    ("javascript", "console.log(1)", lambda _: ["node", "-e", "console.log(1)"]),
)


def measure(table, program, python, rounds):
    version = [program.binary, "--version"]
    table.row("fork and execute").put("floor", [wall(["/bin/true"]) for _ in range(5 * rounds)])
    spent = [drained(version, **program.options) for _ in range(2 * rounds)]
    table.row("`--version`").put("ours", [one.wall for one in spent])
    table.row("`--version`, processor time", goals=[Below(0.010, "s")]).put("ours", [one.processor for one in spent])
    prompt(table, program, rounds)
    for language, code, bare in COLD:
        goals = [AtMost(3, "floor")] if language == "python" else []
        row = table.row(f"cold, {language}", goals=goals)
        samples = alternated(
            rounds,
            ours=lambda: wall(program.run(language, code), **program.options),
            floor=lambda: wall(bare(python)),
        )
        for side, taken in samples.items():
            row.put(side, taken)


def prompt(table, program, rounds):
    row = table.row("start to prompt")
    row.put("floor", [wall(["/bin/true"]) for _ in range(rounds)])
    row.put("ours", [until_prompt(program) for _ in range(rounds)])


def chat(program):
    command = [program.binary, "--yes", "--model", f"scripted:{program.script([('python', 'print(1)')], end='that is all')}"]
    return Terminal(command, program.options["cwd"], program.options["env"])


def until_prompt(program):
    terminal = chat(program)
    try:
        return terminal.until(PROMPT)
    finally:
        terminal.close()


def idle(table, program, python, rounds):
    """Memory of a chat that waits."""
    alone = table.row("idle at the prompt, the program alone", unit="bytes", goals=[Below(25 << 20, "bytes")])
    after = table.row("idle after a Python cell, the program alone", unit="bytes")
    everything = table.row("idle after a Python cell, kernel included", unit="bytes")
    samples = alternated(rounds, ours=lambda: waiting(program), floor=lambda: bare(python))
    alone.put("ours", [one[0] for one in samples["ours"]])
    after.put("ours", [one[1] for one in samples["ours"]])
    everything.put("ours", [one[2] for one in samples["ours"]])
    everything.put("floor", samples["floor"])


def waiting(program):
    terminal = chat(program)
    try:
        terminal.until(PROMPT)
        terminal.settle(2)
        alone = resident(terminal.process)
        terminal.type("go\r")
        terminal.until(rb"that is all[\s\S]*" + PROMPT)
        terminal.settle(0.5)
        return alone, resident(terminal.process), resident_family(terminal.process)
    finally:
        terminal.close()


def bare(python):
    process = subprocess.Popen([python, "-u", "-i", "-c", "print(1)"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        process.stdout.readline()
        return resident_family(process.pid)
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()
