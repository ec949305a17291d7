"""The question: from a key to its answer, and from the question to the mark that it can be answered behind.

- *Key to answer*: a question waits in a pseudo-terminal; from the key until the program has taken it and
  shows so.
- *Question to mark*: from the last row of the question until `?` stands there. It holds the pause in which
  early keys are no answers, 200 ms; the rest is the terminal's own answer, which comes at once here.
- *Key to echo*: code prints without end, and a person types their next prompt; from a key until it is seen.
"""
import time

from benchmark.table import Below
from benchmark.terminal import Terminal

FLOOD = "number = 0\nwhile True:\n    print(number, 'x' * 60)\n    number += 1"
PROMPT, QUESTION, MARK, TAKEN = rb"> $", rb"Run it\?", rb"\? $", rb"\? n\r?\n|^n\r?\n"


def measure(table, program, rounds):
    script = program.script([("python", "print(1)")] * rounds)
    command = [program.binary, "--model", f"scripted:{script}"]
    terminal = Terminal(command, program.options["cwd"], program.options["env"])
    keys, marks = [], []
    try:
        terminal.until(PROMPT)
        for _ in range(rounds):
            terminal.type("go\r")
            asked = terminal.until(QUESTION)
            marks.append(terminal.until(MARK) - asked)
            began = time.perf_counter() - terminal.began
            terminal.type("n")
            keys.append(terminal.until(TAKEN) - began)
            terminal.until(PROMPT)
    finally:
        terminal.close()
    table.row("key to answer", goals=[Below(0.010, "s")]).put("ours", keys)
    table.row("question to mark").put("ours", marks)
    table.row("key to echo, output floods", goals=[Below(0.010, "s")]).put("ours", echoes(program, rounds * 4))


def echoes(program, rounds):
    """Seconds from a key to its echo, while code prints as fast as it can."""
    command = [program.binary, "--yes", "--model", f"scripted:{program.script([('python', FLOOD)])}", "go"]
    terminal = Terminal(command, program.options["cwd"], program.options["env"])
    found, typed = [], ""
    try:
        # Folded by now, and the row that tells of the run is there.
        terminal.until(rb"is running")
        for number in range(rounds):
            typed += chr(ord("a") + number % 26)
            began = time.perf_counter() - terminal.began
            terminal.type(typed[-1])
            found.append(terminal.until(b"> " + typed.encode()) - began)
            terminal.settle(0.05)
    finally:
        terminal.close()
    return found
