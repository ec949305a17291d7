"""Files up to the server and down again, over HTTP: how quick, and how much memory the server takes for them.

The file is made while it is sent, and thrown away while it is read, so that only the server's own memory counts: *growth* is the highest
resident memory while a file goes through, less what was resident before. The floor copies a file of the same length on the same disk.
"""
import http.client
import json
import os
import shutil
import subprocess
import time

from benchmark.clock import Failed, highest, resident
from benchmark.table import Below

MEGABYTE = 1 << 20
PIECE = bytes(range(256)) * (MEGABYTE // 256)


class Server:
    def __init__(self, program):
        program.settings(f'model = "scripted:{program.script([])}"\n')
        command = [program.binary, "serve", "--no-open", "--port", "0", "--json"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **program.options)
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"the server did not start, exit code {self.process.wait()}")
        told = json.loads(line)
        self.address, self.head = told["address"], {"Authorization": f"Bearer {told['token']}"}

    def ask(self, method, path, body=None, head=None):
        connection = http.client.HTTPConnection(self.address, timeout=600)
        connection.request(method, path, body=body, headers={**self.head, **(head or {})})
        answer = connection.getresponse()
        if answer.status not in (200, 201):
            raise Failed(f"{method} {path}: {answer.status} {answer.read()[:300]}")
        return answer

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def measure(table, program, megabytes):
    server = Server(program)
    try:
        opened = server.ask("POST", "/v1/sessions", json.dumps({"mode": "run"}), {"Content-Type": "application/json"})
        session = json.loads(opened.read())["session"]
        path = f"/v1/sessions/{session}/files/large"
        floor = copied(program.folder, megabytes)
        for name, move in (("up", lambda: upload(server, path, megabytes)), ("down", lambda: download(server, path, megabytes))):
            before = forget_highest(server.process.pid)
            began = time.perf_counter()
            move()
            row = table.row(f"{megabytes} MiB {name}")
            row.put("ours", [time.perf_counter() - began])
            row.put("floor", [floor])
            grown = max(0, highest(server.process.pid) - before)
            table.row(f"{megabytes} MiB {name}, growth", unit="bytes", goals=[Below(16 * MEGABYTE, "bytes")]).put("ours", [grown])
    finally:
        server.end()


def forget_highest(process):
    """Begins the highest resident memory anew, at what is resident now."""
    with open(f"/proc/{process}/clear_refs", "w") as file:
        file.write("5")
    return resident(process)


def upload(server, path, megabytes):
    pieces = (PIECE for _ in range(megabytes))
    server.ask("PUT", path, pieces, {"Content-Length": str(megabytes * MEGABYTE)}).read()


def download(server, path, megabytes):
    answer, count = server.ask("GET", path), 0
    while piece := answer.read(MEGABYTE):
        count += len(piece)
    if count != megabytes * MEGABYTE:
        raise Failed(f"{count} bytes came down")


def copied(folder, megabytes):
    """How long a copy of such a file takes here."""
    paths = [os.path.join(folder, name) for name in ("original", "copy")]
    with open(paths[0], "wb") as file:
        for _ in range(megabytes):
            file.write(PIECE)
    began = time.perf_counter()
    shutil.copyfile(*paths)
    taken = time.perf_counter() - began
    for path in paths:
        os.remove(path)
    return taken
