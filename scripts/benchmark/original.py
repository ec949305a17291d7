"""Open Interpreter 0.4.3, the Python original, measured through its own Python interface and its own command.

The environment is made below `target/bench/original` (some 700 MB, minutes); `original_probe.py` runs in it. It has a home of its own,
no telemetry, and no network is needed. Each of its warm cells takes most of a second, so the rounds are few.
"""
import json
import os
import subprocess

from benchmark.clock import Failed, drained, resident
from benchmark.environment import python_with
from benchmark.start import PROMPT
from benchmark.streamed import address, server
from benchmark.terminal import Terminal

PATIENCE = 1800
PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "original_probe.py")
# It imports pkg_resources, which newer setuptools no longer have, and does not ask for it.
PACKAGES = ("open-interpreter==0.4.3", "setuptools<81")


def prepared(target):
    return python_with(os.path.join(target, "original"), PACKAGES, "import pkg_resources; pkg_resources.require('open-interpreter==0.4.3')")


def measure(table, python, folder, rounds, sizes, lines):
    home = os.path.join(folder, "original")
    os.makedirs(home)
    environment = {
        **os.environ, "HOME": home, "DISABLE_TELEMETRY": "true", "ANONYMIZED_TELEMETRY": "false",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True", "TERM": "xterm-256color",
    }
    command = os.path.join(os.path.dirname(python), "interpreter")
    spent = [drained([command, "--version"], cwd=home, env=environment) for _ in range(rounds)]
    table.row("`--version`").put("original", [one.wall for one in spent])
    table.row("`--version`, processor time").put("original", [one.processor for one in spent])
    started = [until_prompt(command, home, environment) for _ in range(rounds)]
    table.row("start to prompt").put("original", [one[0] for one in started])
    table.row("idle at the prompt, the program alone", unit="bytes").put("original", [one[1] for one in started])
    with server() as port:
        plan = {"rounds": rounds, "lines": lines, "sizes": [[size, address(port, "tool", size)] for size in sizes]}
        done = subprocess.run([python, "-B", PROBE, json.dumps(plan)], cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    figures = [line for line in done.stdout.splitlines() if line.startswith("FIGURES ")]
    if not figures:
        raise Failed(f"the probe of the original ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-600:]}")
    for name, unit, samples in json.loads(figures[-1][8:]):
        table.row(name, unit=unit).put("original", samples)


def until_prompt(command, home, environment):
    """Seconds from the start to the prompt, and the memory in use then."""
    arguments = [command, "--offline", "--disable_telemetry", "--model", "openai/bench", "--api_key", "none", "--api_base", "http://127.0.0.1:9/v1"]
    terminal = Terminal(arguments, home, environment)
    try:
        return terminal.until(PROMPT), resident(terminal.process)
    finally:
        terminal.close()
