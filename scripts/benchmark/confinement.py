"""What confinement costs: our jail's steps around `true` against bubblewrap with the same namespaces and mounts; the whole
command with the sandbox and without; and how the start grows with the files of the work folder.

The jail is started as the program starts it: the binary under the name `interpreter-jail`, with its plan on standard input. The plan
here has every kind of step but the system-call filter, which the program compiles itself; bubblewrap has neither that nor Landlock,
resource limits or a check that its capabilities are gone. Without bubblewrap that side is missing, and the table says so. What
confinement adds is the difference of two runs of the whole command, one of them with `--sandbox none`, which take turns.
What staging costs a build is measured by `staging.py`.
"""
import json
import os
import shutil
import struct
import subprocess
import time

from benchmark.clock import QUIET, Failed, alternated, wall
from benchmark.table import AtMost, Below

SYSTEM = ("/bin", "/sbin", "/lib", "/lib64", "/usr", "/etc")
NAMESPACES = ["mount", "process", "network", "ipc", "hostname", "cgroup"]
FILES = 100_000
PROMISES = "network,reading,writing,processes,environment,privileges,calls,terminal,ending,limits"


def measure(table, program, rounds):
    jail(table, program.binary, rounds * 5)
    whole(table, program, rounds)
    many_files(table, program, rounds)


def jail(table, binary, rounds):
    """The bare steps, by the clock."""
    row = table.row("jail around `true` (floor: bubblewrap, the same namespaces)", goals=[AtMost(1, "floor")])
    sides = {"ours": lambda: jailed(binary)}
    if shutil.which("bwrap"):
        sides["floor"] = lambda: wall(bubblewrap())
    else:
        table.missing.append("jail around `true`: bubblewrap is not installed")
    for side, samples in alternated(rounds, **sides).items():
        row.put(side, samples)


def jailed(binary):
    text = json.dumps(plan()).encode()
    began = time.perf_counter()
    process = subprocess.Popen(["interpreter-jail"], executable=binary, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={})
    _, said = process.communicate(struct.pack("<I", len(text)) + text)
    taken = time.perf_counter() - began
    if process.returncode:
        raise Failed(f"the jail ended with {process.returncode}: {said.decode(errors='replace')[:300]}")
    return taken


def plan():
    """The steps of an ordinary user's sandbox, with `true` in the place of the host."""
    user, group = os.getuid(), os.getgid()
    steps = [
        "new_session", {"unshare": ["user"]},
        {"map_ids": {"inside": 1000, "outside": user, "inside_group": 1000, "outside_group": group}},
        {"unshare": NAMESPACES}, "fork", "new_root",
    ]
    for path in SYSTEM:
        if os.path.islink(path):
            steps.append({"link": {"at": path, "to": os.readlink(path)}})
        elif os.path.isdir(path):
            steps.append({"bind": {"from": path, "to": path, "access": "read", "owner": "as_outside"}})
    steps += [{"processes": {"at": "/proc"}}, {"temporary": {"at": "/tmp", "bytes": 1 << 30, "mode": 0o1777}}]
    steps += [{"temporary": {"at": "/dev/shm", "bytes": 1 << 30, "mode": 0o1777}}, {"terminals": {"at": "/dev/pts"}}]
    devices = ("null", "zero", "full", "random", "urandom")
    steps += [{"bind": {"from": f"/dev/{name}", "to": f"/dev/{name}", "access": "device", "owner": "as_outside"}} for name in devices]
    steps += ["leave_old_root", {"hostname": "sandbox"}, "loopback"]
    steps += [{"limit": {"resource": name, "most": 1 << 30}} for name in ("memory", "file_size")]
    steps += ["drop_capabilities", "no_new_privileges", {"landlock": {"writable": ["/tmp"]}}, "die_with_parent"]
    return steps + [{"execute": {"program": "/usr/bin/true", "arguments": ["true"]}}]


def bubblewrap():
    command = ["bwrap", "--unshare-user", "--unshare-all", "--new-session", "--die-with-parent", "--hostname", "sandbox", "--uid", "1000", "--gid", "1000"]
    for path in SYSTEM:
        if os.path.islink(path):
            command += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            command += ["--ro-bind", path, path]
    return [*command, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "/usr/bin/true"]


def whole(table, program, rounds):
    """The whole command with nothing to do, in the sandbox and, where that can be had, without."""
    row = table.row("cold, `true` in the sandbox")
    command = [program.binary, "run", "-l", "shell", "-c", "true"]
    sides = {"ours": lambda: wall(command, **program.options), "floor": lambda: wall(["bash", "-c", "true"])}
    bare = [*command, "--sandbox", "none", "--workspace", "direct", "--allow-missing", PROMISES]
    known = subprocess.run(bare, **QUIET, **program.options).returncode == 0
    if known:
        sides["unconfined"] = lambda: wall(bare, **program.options)
    else:
        table.missing.append("cold without the sandbox: the program has no way to be run so")
    samples = alternated(rounds, **sides)
    for side in ("ours", "floor"):
        row.put(side, samples[side])
    if known:
        added = table.row("added by confinement", goals=[Below(0.010, "s")])
        added.put("ours", [one - other for one, other in zip(samples["ours"], samples["unconfined"])])


def many_files(table, program, rounds):
    """The search for secrets, in a folder with a hundred thousand files, against an empty one."""
    folder = os.path.join(program.options["cwd"], "many")
    for number in range(FILES // 100):
        inner = os.path.join(folder, str(number % 40), str(number))
        os.makedirs(inner)
        for file in range(100):
            open(os.path.join(inner, f"f{file}.txt"), "w").close()
    empty = os.path.join(program.options["cwd"], "empty")
    os.makedirs(empty)
    command = [program.binary, "run", "-l", "shell", "-c", "true"]
    sides = {name: {**program.options, "cwd": path} for name, path in (("ours", folder), ("floor", empty))}
    row = table.row(f"cold, `true` in a folder of {FILES:,} files (floor: of none)")
    samples = alternated(rounds, **{side: lambda options=options: wall(command, **options) for side, options in sides.items()})
    for side, taken in samples.items():
        row.put(side, taken)
    shutil.rmtree(folder)
