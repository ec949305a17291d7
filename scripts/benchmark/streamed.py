"""Long code, streamed token by token: 32,000 characters, and ten and a hundred times as many.

A server of our own (`model_server.py`) streams one piece of Python in tokens of four characters, once in a fence and once as a call of a
tool. *Processor time* is that of our own process from start to end (the kernel, which runs the code, is another one); the floor is that of a bare
Python (`stream_reader.py`) until it has read the same stream. *Wall time* is of the whole turn: the code streamed, judged, run in the
kernel, and the model asked once more; the floor does the same, but judges and confines nothing. The server's own speed is in both.
"""
import contextlib
import itertools
import os
import re
import subprocess
import sys

from benchmark.clock import Failed, alternated, drained

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = {"fence": "in a fence", "tool": "in a tool call"}
names = itertools.count()


def measure(table, program, python, rounds, sizes):
    with server() as port:
        for shape, words in SHAPES.items():
            rows = [one(table, program, python, rounds, (port, shape, size)) for size in sizes]
            table.growth(f"code streamed {words}, processor time", [row for row, _ in rows])
            table.growth(f"code streamed {words}, wall time", [row for _, row in rows])


def one(table, program, python, rounds, what):
    _, shape, size = what
    samples = alternated(
        rounds if size < 1_000_000 else 1,
        ours=lambda: ours(program, address(*what), shape, size),
        floor=lambda: floor(python, address(*what)),
    )
    processor, wall = table.row(title(size, shape)), table.row(title(size, shape, "wall"))
    for side, spent in samples.items():
        processor.put(side, [one.processor for one in spent])
        wall.put(side, [one.wall for one in spent])
    return processor, wall


def title(size, shape, time="processor"):
    return f"{size:,} characters streamed {SHAPES[shape]}, {time} time"


def address(port, shape, size):
    """A new one each time: the server remembers who has had the code."""
    return f"http://127.0.0.1:{port}/{shape}/{size}/n{next(names)}/v1"


def ours(program, url, shape, size):
    tools = "true" if shape == "tool" else "false"
    program.settings(f'model = "bench"\n[endpoint.bench]\nbase_url = "{url}"\nformat = "openai"\nmodel = "bench"\ntools = {tools}\n')
    spent = drained([program.binary, "--yes", "go"], **program.options)
    if f"ran {size}".encode() not in spent.tail:
        raise Failed(f"{size} streamed characters did not run: {spent.tail!r}")
    return spent


def floor(python, url):
    spent = drained([python, os.path.join(HERE, "stream_reader.py"), url])
    spent.processor = float(re.search(rb"processor (\S+)", spent.tail)[1])
    return spent


@contextlib.contextmanager
def server():
    process = subprocess.Popen([sys.executable, os.path.join(HERE, "model_server.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()
