"""Many turns in one chat at a terminal: what a turn costs, and what stays in memory.

Each turn is a prompt that a person types, a short reply in Markdown, and the next prompt. *Each* is the time from Enter to the next
prompt; *resident* is our own process. The scripted model reads all its replies at the start, so the first figure is taken after the first
turn. The conversation itself is kept, and cut to what the model's context holds; what grows beyond that would show here.
"""
import time

from benchmark.terminal import Terminal

PROMPT = rb"> $"


def measure(table, program, sizes):
    count = sizes[-1]
    folder = program.options["env"]["HOME"]
    path = f"{folder}/turns.toml"
    with open(path, "w") as file:
        file.write("context = 8000\n")
        # More than turns: a conversation that is too long is summed up by the model.
        for number in range(count * 2):
            file.write(f'[[reply]]\ntext = "The *answer* is `{number}`.\\n\\n- one\\n- two\\n"\n')
    terminal = Terminal([program.binary, "--model", f"scripted:{path}"], program.options["cwd"], program.options["env"])
    times, resident = [], {}
    try:
        terminal.until(PROMPT)
        for turn in range(1, count + 1):
            began = time.perf_counter() - terminal.began
            terminal.type("go on\r")
            terminal.until(rb"two[^>]*> $")
            times.append(time.perf_counter() - terminal.began - began)
            if turn in (1, *sizes):
                resident[turn] = rss(terminal.process)
    finally:
        terminal.close()
    tenth = max(1, count // 10)
    table.row(f"first {tenth:,} of {count:,} turns, each").put("ours", times[:tenth])
    table.row(f"last {tenth:,} of {count:,} turns, each").put("ours", times[-tenth:])
    for turn, size in resident.items():
        words = "the first turn" if turn == 1 else f"{turn:,} turns"
        table.row(f"resident after {words}", unit="bytes").put("ours", [size])


def rss(process):
    with open(f"/proc/{process}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024
