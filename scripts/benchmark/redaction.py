"""Redaction: what it costs to know secrets, which are looked for in everything that is recorded, shown or sent.

Ours is a session with twenty secrets in variables, such as a developer's; the floor is the same without any. Both look for tokens of a
known shape, as every session does: `cargo run --release -p interpreter-core --example redaction` says what that costs by itself.
"""
import hashlib
import os

from benchmark.clock import Failed, alternated, drained
from benchmark.output import MEGABYTE, text
from benchmark.table import AtMost

SECRETS = {f"SERVICE_{number}_API_KEY": hashlib.sha256(str(number).encode()).hexdigest()[:40] for number in range(20)}
HELD = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")


def measure(table, knowing, plain, cells, rounds, megabytes):
    plain.options["env"] = {name: value for name, value in plain.options["env"].items() if not any(word in name.upper() for word in HELD)}
    knowing.options["env"] = {**plain.options["env"], "INTERPRETER_HOME": knowing.home, **SECRETS}
    row = table.row("warm cell, python, 20 secrets known (floor: none)", goals=[AtMost(1.05, "floor")])
    cycle = table.row("whole cycle, python, 20 secrets known (floor: none)")
    sides = {"ours": knowing, "floor": plain}
    sessions = alternated(rounds, **{side: lambda one=one: one.cells("python", "print(1)", cells) for side, one in sides.items()})
    for side, all_of_it in sessions.items():
        row.put(side, [one for session in all_of_it for one in session.warm()])
        cycle.put(side, [one for session in all_of_it for one in session.cycles()])
    size = megabytes * MEGABYTE
    row = table.row(f"{megabytes} MB of output, 20 secrets known (floor: none)")
    names = {side: text(one.work, size) for side, one in sides.items()}
    samples = alternated(
        rounds, **{side: lambda one=one, side=side: drained(one.run("shell", f"cat {names[side]}"), **one.options) for side, one in sides.items()}
    )
    for side, spent in samples.items():
        if any(one.size != size for one in spent):
            raise Failed(f"bytes printed are {[one.size for one in spent]}")
        row.put(side, [one.wall for one in spent])
        os.remove(os.path.join(sides[side].work, names[side]))
