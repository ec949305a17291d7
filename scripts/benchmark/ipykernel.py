"""A bare ipykernel through `jupyter_client`: no sandbox, no judgement, no record.

The environment is made below `target/bench/ipykernel`; `ipykernel_probe.py` runs in it and does the measuring.
"""
import json
import os
import subprocess

from benchmark.clock import Failed
from benchmark.environment import python_with

PATIENCE = 1800
PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ipykernel_probe.py")
PACKAGES = ("ipykernel", "jupyter_client")


def prepared(target):
    return python_with(os.path.join(target, "ipykernel"), PACKAGES, "import ipykernel, jupyter_client")


def measure(table, python, folder, plan):
    """`plan` says how much of everything; see the probe."""
    home = os.path.join(folder, "ipykernel")
    os.makedirs(home)
    environment = {**os.environ, "HOME": home, "JUPYTER_PLATFORM_DIRS": "1", "IPYTHONDIR": home}
    done = subprocess.run([python, "-B", PROBE, json.dumps(plan)], cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise Failed(f"the probe of ipykernel ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    table.missing += found["missing"]
    for name, unit, samples in found["rows"]:
        table.row(name, unit=unit).put("ipykernel", samples)
