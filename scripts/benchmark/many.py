"""Many small cells in one session: what a cell costs, and what stays in memory, after 100, 1,000 and 10,000.

The cell is `print(1)` in Python. *Whole session* is the time a client of `--json` sees from the first finished cell to the last, divided by the number of cells
between them; *resident* is our own process after the last cell, and *gained* what it has more than after the first. *Gained* is a lower bound: the
scripted model reads all its replies at the start, and what that reading frees is used again before more is asked of the system. The more cells,
the more it can hide, so it has no figure to reach. Within the longest session the first and the last tenth of
the cells are compared: what grows with the session shows there.
"""
from benchmark.warm import round_trips


def measure(table, program, python, sizes):
    rows, session = [], None
    for count in sizes:
        row = table.row(f"{count:,} cells, each, whole session")
        kept = table.row(f"resident after {count:,} cells", unit="bytes")
        gained = table.row(f"resident, gained over {count:,} cells", unit="bytes")
        session = program.cells("python", "print(1)", count)
        row.put("ours", [session.each])
        kept.put("ours", session.resident[-1:])
        gained.put("ours", [session.resident[-1] - session.resident[0]])
        trips = round_trips([python, "-u", "-c", "import sys\nfor line in sys.stdin: exec(line)"], b"print(1)\n", count)
        row.put("floor", [sum(trips) / len(trips)])
        rows.append(row)
    table.growth("time of a cell", rows)
    tenth = sizes[-1] // 10
    table.row(f"first {tenth:,} of {sizes[-1]:,} cells, run").put("ours", session.warm()[:tenth])
    table.row(f"last {tenth:,} of {sizes[-1]:,} cells, run").put("ours", session.warm()[-tenth:])
    table.row(f"first {tenth:,} of {sizes[-1]:,} cells, whole cycle").put("ours", session.cycles()[:tenth])
    table.row(f"last {tenth:,} of {sizes[-1]:,} cells, whole cycle").put("ours", session.cycles()[-tenth:])
