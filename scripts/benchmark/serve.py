"""The server: what it costs to keep sessions, and how soon everybody sees what happens in one.

One server on a Unix socket, and clients that speak its protocol. *Idle* is the server's own resident memory once it has answered, *for each
idle session* the growth over sessions that were opened and have run nothing. *A warm cell among N* is `print(1)` in one of N sessions whose
Python is alive, from `run_started` to `run_finished` by the records' own times; nine and a half of ten are faster than the second figure.
*Record to another client* is from a record's own time to its arrival at a client that only watches. *Attached to* a session of many records:
from `subscribe` to the last of them. *Cuts*: a client is cut off at random moments while records come and subscribes again behind the last one
that it has; whatever it has too much or too little is counted.
"""
import json
import os
import random
import socket
import subprocess
import time

from benchmark.clock import Failed, resident
from benchmark.program import stamp
from benchmark.table import Below

MEGABYTE = 1 << 20
SOME = 50


class Client:
    """One connection: requests, and whatever comes beside their replies."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines, self.number, self.beside = self.socket.makefile("rb"), 0, []

    def send(self, verb, **fields):
        self.number += 1
        self.socket.sendall(json.dumps({"id": self.number, "do": verb, **fields}).encode() + b"\n")
        return self.number

    def line(self):
        line = self.lines.readline()
        if not line:
            raise Failed("the server has closed the connection")
        return line

    def reply(self, number):
        while True:
            said = json.loads(self.line())
            if said.get("id") != number:
                self.beside.append(said)
            elif "error" in said:
                raise Failed(f"the server refused: {said['error']}")
            else:
                return said["ok"]

    def do(self, verb, **fields):
        return self.reply(self.send(verb, **fields))

    def until(self, kind):
        """The next record of this kind, with the time of its arrival."""
        while True:
            said = self.beside.pop(0) if self.beside else json.loads(self.line())
            if said.get("kind") == kind:
                return said, time.time()

    def ran(self, session):
        """Runs a cell, and gives its records from the start to the end."""
        number = self.send("run", session=session, language="python", code="print(1)")
        self.reply(number)
        started, finished = self.until("run_started")[0], self.until("run_finished")[0]
        self.until("turn_finished")
        return started, finished

    def close(self):
        self.lines.close()
        self.socket.close()


class Server:
    def __init__(self, program):
        private = os.path.join(program.folder, "private")
        os.mkdir(private, mode=0o700)
        self.path = os.path.join(private, "s")
        script = program.script([])
        program.settings(f'model = "scripted:{script}"\n')
        command = [program.binary, "serve", "--no-open", "--socket", self.path]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **program.options)
        if not self.process.stdout.readline():
            raise Failed(f"the server did not start, exit code {self.process.wait()}")

    def client(self):
        return Client(self.path)

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def measure(table, program, sessions, records, cuts):
    server = Server(program)
    try:
        client = server.client()
        client.do("list")
        before = resident(server.process.pid)
        table.row("server, idle", unit="bytes", goals=[Below(40 * MEGABYTE, "bytes")]).put("ours", [before])
        opened = [client.do("open", mode="run")["session"] for _ in range(sessions)]
        grown = (resident(server.process.pid) - before) / sessions
        row = table.row(f"server, for each of {sessions} idle sessions", unit="bytes", goals=[Below(2 * MEGABYTE, "bytes")])
        row.put("ours", [grown])
        cells(table, server, opened)
        for session in opened[2:]:
            client.do("close", session=session)
        arrivals(table, server, opened[0])
        attached(table, server, opened[0], records)
        cut(table, server, opened[1], cuts)
        client.close()
    finally:
        server.end()


def newest_of(client, session):
    return client.do("list", session=session)["sessions"][0]["seq"]


def watching(client, session, after=None):
    """Subscribes behind a record, or behind the newest."""
    client.do("subscribe", session=session, after=newest_of(client, session) if after is None else after)
    return client


def cells(table, server, opened):
    # A client watches 64 sessions at most, and a socket serves 64 clients.
    few = [server.client() for _ in opened[::SOME]]
    clients = [watching(few[at // SOME], session) for at, session in enumerate(opened)]
    for client, session in zip(clients, opened):
        client.ran(session)
    taken = []
    for _ in range(3):
        for client, session in zip(clients, opened):
            started, finished = client.ran(session)
            taken.append(stamp(json.dumps(finished)) - stamp(json.dumps(started)))
    taken.sort()
    name = f"warm cell, python, one of {len(opened)} live sessions"
    table.row(name).put("ours", taken)
    table.row(f"{name}, 95 of 100", goals=[Below(0.02, "s")]).put("ours", [taken[len(taken) * 95 // 100]])
    for client in few:
        client.close()


def arrivals(table, server, session, count=200):
    other, own = watching(server.client(), session), watching(server.client(), session)
    late = []
    for _ in range(count):
        own.send("run", session=session, language="python", code="print(1)")
        said, came = other.until("run_finished")
        late.append(came - stamp(json.dumps(said)))
        own.until("turn_finished")
    late.sort()
    table.row("record to another client").put("ours", late)
    table.row("record to another client, 95 of 100", goals=[Below(0.01, "s")]).put("ours", [late[len(late) * 95 // 100]])
    other.close()
    own.close()


def attached(table, server, session, records):
    client = watching(server.client(), session)
    while (newest := newest_of(client, session)) < records:
        client.ran(session)
    client.close()
    taken = []
    for _ in range(5):
        client, began = server.client(), time.perf_counter()
        watching(client, session, after=0)
        last = max((said.get("seq", 0) for said in client.beside), default=0)
        while last < newest:
            last = max(last, json.loads(client.line()).get("seq", 0))
        taken.append(time.perf_counter() - began)
        client.close()
    table.row(f"attached to a session of {newest} records").put("ours", taken)


def cut(table, server, session, cuts):
    """Counts what a client that is cut off at random has too much or too little, against one that is not."""
    chance = random.Random(1)
    driver = watching(server.client(), session)
    seen, first = [], newest_of(driver, session)
    after = first
    for _ in range(cuts):
        client = server.client()
        client.send("subscribe", session=session, after=after)
        driver.ran(session)
        client.socket.settimeout(chance.random() * 0.01 + 0.0001)
        try:
            while True:
                said = json.loads(client.line())
                if "seq" in said:
                    seen.append(said["seq"])
                    after = said["seq"]
        except (TimeoutError, OSError, ValueError):
            client.close()
    newest = newest_of(driver, session)
    client = watching(server.client(), session, after)
    seen += [said["seq"] for said in client.beside if "seq" in said]
    while not seen or seen[-1] < newest:
        said = json.loads(client.line())
        if "seq" in said:
            seen.append(said["seq"])
    expected = range(first + 1, newest + 1)
    lost, doubled = len(set(expected) - set(seen)), len(seen) - len(set(seen))
    row = table.row(f"records lost or doubled over {cuts} cuts, of {len(expected)}", unit="count", goals=[Below(1, "count")])
    row.put("ours", [lost + doubled])
    client.close()
    driver.close()
