"""Much output: lines of `seq` and megabytes of text through shell, at one, ten and a hundred times the size.

Ours is the whole command `interpreter run -l shell -c …`, start, sandbox and record included; it must print every byte. The floor
is the same command from a bare `bash -c`. Both are read through a pipe. The megabytes are numbered lines of text from
a file, by `cat`. *Peak* is the most of our own process that was in memory.
"""
import os

from benchmark.clock import Failed, alternated, drained
from benchmark.table import AtMost, Below, Faster, Flat

MEGABYTE = 1_000_000


def measure(table, program, rounds, lines, megabytes):
    times, peaks = [], []
    for count in lines:
        longest = count == lines[-1]
        goals = ([Faster(20, "original")], [Flat(peaks[0])]) if longest else ([], [])
        one, peak = sized(table, program, rounds, f"{count:,} lines", f"seq {count}", None, *goals)
        times.append(one)
        peaks.append(peak)
    table.growth("lines, time", times)
    table.growth("lines, peak resident", peaks)
    times, peaks = [], []
    for size in megabytes:
        largest = size == megabytes[-1]
        name = text(program.work, size * MEGABYTE)
        goals = ([AtMost(3, "floor")], [Below(64 << 20, "bytes")]) if largest else ([], [])
        one, peak = sized(table, program, rounds, f"{size} MB of output", f"cat {name}", size * MEGABYTE, *goals)
        os.remove(os.path.join(program.work, name))
        times.append(one)
        peaks.append(peak)
    table.growth("megabytes, time", times)
    table.growth("megabytes, peak resident", peaks)


def sized(table, program, rounds, name, command, size, goals, memory_goals):
    row, peak = table.row(name, goals=goals), table.row(f"{name}, peak resident", unit="bytes", goals=memory_goals)
    samples = alternated(
        rounds,
        ours=lambda: drained(program.run("shell", command), **program.options),
        floor=lambda: drained(["bash", "-c", command], cwd=program.work),
    )
    sizes = {side: {one.size for one in spent} for side, spent in samples.items()}
    if sizes["ours"] != sizes["floor"] or size not in (None, *sizes["ours"]):
        raise Failed(f"{name}: bytes printed are {sizes}")
    for side, spent in samples.items():
        row.put(side, [one.wall for one in spent])
    peak.put("ours", [one.peak for one in samples["ours"]])
    return row, peak


def text(folder, size):
    """A file of numbered lines, exactly so many bytes."""
    name = f"text-{size}"
    with open(os.path.join(folder, name), "w") as file:
        for start in range(0, size, 100 * 1000):
            lines = (f"{start + n * 100:012} {'the quick brown fox jumps over the lazy dog, and then again, ' * 2:.86}\n" for n in range(1000))
            file.write("".join(lines)[: size - start])
    return name
