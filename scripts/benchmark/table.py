"""Rows of figures, what they are to reach, and how they are printed: Markdown and JSON.

A row holds the samples of up to four sides: `ours`, `floor` (what no program of this kind can beat),
`ipykernel` (a bare kernel through `jupyter_client`) and `original` (Open Interpreter 0.4.3). A figure is
the median of its samples, and `×n` beside it says how many there were. Nothing is asserted.
"""
import statistics

SIDES = ("ours", "floor", "ipykernel", "original")


class AtMost:
    """Ours is at most so many times another side."""

    def __init__(self, times, side):
        self.times, self.side, self.text = times, side, f"at most {times} × the {side}"

    def met(self, row):
        ours, other = row.figure("ours"), row.figure(self.side)
        return None if ours is None or not other else ours <= self.times * other


class Faster:
    """Ours is at least so many times faster than another side."""

    def __init__(self, times, side):
        self.times, self.side, self.text = times, side, f"{times} times faster than the {side}"

    def met(self, row):
        ours, other = row.figure("ours"), row.figure(self.side)
        return None if not ours or other is None else other >= self.times * ours


class Flat:
    """Ours is about what it is in a row with a hundredth of the work."""

    def __init__(self, other):
        self.other, self.text = other, f"at most 1.5 × that of {other.name}"

    def met(self, row):
        ours, other = row.figure("ours"), self.other.figure("ours")
        return None if ours is None or not other else ours <= 1.5 * other


class Below:
    """Ours is below a fixed amount."""

    def __init__(self, limit, unit):
        self.limit, self.text = limit, f"under {shown(limit, unit)}"

    def met(self, row):
        ours = row.figure("ours")
        return None if ours is None else ours < self.limit


class Row:
    def __init__(self, name, unit, goals):
        self.name, self.unit, self.goals, self.samples = name, unit, goals, {}

    def put(self, side, samples):
        """The samples of one side; none of them means that it was not measured."""
        if samples:
            self.samples[side] = list(samples)

    def figure(self, side):
        return statistics.median(self.samples[side]) if side in self.samples else None

    def ratio(self, above, below):
        above, below = self.figure(above), self.figure(below)
        return None if above is None or not below else above / below

    def reached(self):
        """One word for each goal: yes, no, or that its other side was not measured."""
        words = {True: "yes", False: "**no**", None: "not measured"}
        return "; ".join(f"{goal.text}: {words[goal.met(self)]}" for goal in self.goals)


class Table:
    def __init__(self):
        self.rows, self.growths, self.missing = {}, [], []

    def row(self, name, unit="s", goals=()):
        """The row of that name: made by whoever asks first, filled in by all."""
        return self.rows.setdefault(name, Row(name, unit, goals))

    def growth(self, name, rows):
        """Three rows with one, ten and a hundred times the work."""
        self.growths.append((name, rows))

    def markdown(self):
        return "\n".join([*self.figures(), "", *self.growing(), *self.unmeasured()])

    def figures(self):
        yield "| figure | ours | floor | ours : floor | ipykernel | ipykernel : ours | original | original : ours | target |"
        yield "|---|--:|--:|--:|--:|--:|--:|--:|---|"
        for row in self.rows.values():
            cells = [
                row.name, sided(row, "ours"), sided(row, "floor"), times(row.ratio("ours", "floor")),
                sided(row, "ipykernel"), times(row.ratio("ipykernel", "ours")),
                sided(row, "original"), times(row.ratio("original", "ours")), row.reached(),
            ]
            yield f"| {' | '.join(cells)} |"

    def growing(self):
        if not self.growths:
            return
        yield "| ten and a hundred times the work | side | 1 × | 10 × | 100 × | grows by | and by |"
        yield "|---|---|--:|--:|--:|--:|--:|"
        for name, rows in self.growths:
            for side in SIDES:
                figures = [row.figure(side) for row in rows]
                if None in figures:
                    continue
                first = figures[0]
                grown = [times(figure / first) if first else "" for figure in figures[1:]]
                cells = [name, side, *(shown(figure, rows[0].unit) for figure in figures), *grown]
                yield f"| {' | '.join(cells)} |"

    def unmeasured(self):
        if self.missing:
            yield ""
            yield "Not measured:"
            yield from (f"- {text}" for text in self.missing)

    def json(self):
        return {
            "rows": [
                {
                    "name": row.name,
                    "unit": row.unit,
                    "median": {side: row.figure(side) for side in row.samples},
                    "rounds": {side: len(samples) for side, samples in row.samples.items()},
                    "samples": {side: thinned(samples) for side, samples in row.samples.items()},
                    "goals": [{"text": goal.text, "met": goal.met(row)} for goal in row.goals],
                }
                for row in self.rows.values()
            ],
            "growth": [{"name": name, "rows": [row.name for row in rows]} for name, rows in self.growths],
            "not_measured": self.missing,
        }


def sided(row, side):
    """A side's figure and, after ×, the number of its rounds."""
    figure = row.figure(side)
    return "" if figure is None else f"{shown(figure, row.unit)} ×{len(row.samples[side])}"


def shown(figure, unit):
    if unit == "bytes":
        return f"{figure / (1 << 20):.1f} MB"
    if unit == "count":
        return f"{figure:.0f}"
    if figure >= 1:
        return f"{figure:.2f} s"
    return f"{figure * 1e3:.2f} ms" if figure >= 1e-3 else f"{figure * 1e6:.0f} µs"


def times(ratio):
    return "" if ratio is None else f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}"


def thinned(samples):
    """At most a hundred samples, evenly taken: a file of ten thousand helps nobody."""
    return samples[:: max(1, len(samples) // 100)][:100]
