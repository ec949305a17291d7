"""Our program: how it is started, and sessions of many cells with the scripted model.

Each instance has a home and a work folder of its own, so that no record is longer than its own work.
The sandbox, the judgement and the record are on, as for everybody.
"""
import datetime
import json
import os
import subprocess
import time

from benchmark.clock import Failed, resident


class Program:
    def __init__(self, binary, folder, name):
        self.binary, self.folder = binary, os.path.join(folder, name)
        self.home, self.work = os.path.join(self.folder, "home"), os.path.join(self.folder, "work")
        os.makedirs(self.work)
        self.options = {"cwd": self.work, "env": {**os.environ, "INTERPRETER_HOME": self.home, "TERM": "xterm-256color"}}

    def settings(self, text):
        os.makedirs(os.path.join(self.home, "config"), mode=0o700, exist_ok=True)
        with open(os.path.join(self.home, "config", "config.toml"), "w") as file:
            file.write(text)

    def run(self, language, code):
        """The command that runs one piece of code and ends."""
        return [self.binary, "run", "-l", language, "-c", code]

    def script(self, cells, end="done"):
        """The file of a scripted model that proposes these cells, (language, code), one after another, and then ends the turn. So it
        does in between where a cell is None."""
        path = os.path.join(self.folder, "script.toml")
        with open(path, "w") as file:
            for cell in [*cells, None]:
                said = f"text = {json.dumps(end)}"
                if cell:
                    language, code = map(json.dumps, cell)
                    said = f"call = {{ language = {language}, code = {code} }}"
                file.write(f"[[reply]]\n{said}\n")
        return path

    def cells(self, language, code, count):
        """One session in which the same cell runs many times."""
        script = self.script([(language, code)] * count)
        command = [self.binary, "--yes", "--json", "--max-calls", str(count + 1), "--model", f"scripted:{script}", "go"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, **self.options)
        session, first, last = Cells(), 0, 0
        for line in process.stdout:  # Read later: a client that falls behind would measure itself.
            if '"kind":"run_started"' in line:
                session.started.append(line)
            elif '"kind":"run_finished"' in line:
                session.finished.append(line)
                if len(session.finished) in (1, count):
                    first, last = first or time.perf_counter(), time.perf_counter()
                    session.resident.append(resident(process.pid))
        session.each = (last - first) / (count - 1)
        if process.wait() or len(session.finished) != count:
            raise Failed(f"{len(session.finished)} of {count} cells ran, exit code {process.returncode}")
        if failed := [line for line in session.finished if json.loads(line)["status"] != 0]:
            raise Failed(f"{len(failed)} of {count} cells failed, as {failed[0]}")
        return session


class Cells:
    """What a session of many cells showed. The first cell starts the kernel and is left out."""

    def __init__(self):
        self.started, self.finished, self.resident, self.each = [], [], [], 0

    def warm(self):
        """Seconds of each cell from `run_started` to `run_finished`, by the records' own times."""
        return [stamp(after) - stamp(before) for before, after in zip(self.started, self.finished)][1:]

    def cycles(self):
        """Seconds from each finished cell to the next, by the records' own times: model, judgement, run, records, JSON."""
        times = [stamp(line) for line in self.finished]
        return [after - before for before, after in zip(times, times[1:])]


def stamp(line):
    return datetime.datetime.fromisoformat(json.loads(line)["time"].replace("Z", "+00:00")).timestamp()
