"""Virtual environments below `target/bench`, made by pip the first time and kept."""
import os
import subprocess
import sys

from benchmark.clock import Failed


def python_with(folder, packages, check):
    """The Python of an environment with these packages, in which the statement `check` succeeds."""
    python = os.path.join(folder, "bin", "python")
    if not works(python, check):
        print(f"Installing {', '.join(packages)} in {folder} …", file=sys.stderr)
        step([sys.executable, "-m", "venv", folder])
        step([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
        if not works(python, check):
            raise Failed(f"`{check}` fails in {folder}; remove that folder and try again")
    return python


def works(python, check):
    if not os.path.exists(python):
        return False
    return subprocess.run([python, "-c", check], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def step(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{' '.join(command)[:160]} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
