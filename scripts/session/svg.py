"""Draws rows of a terminal as a picture that follows the reader's light or dark colours."""
import html
import re
import unicodedata

WIDTH, HEIGHT, MARGIN = 8.4, 19, 16  # of a cell, and around them
SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b[()][A-Z0-9]|[\x0e\x0f]|\x1b\]8;[^\x1b]*\x1b\\")
NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
LIGHT = {
    "back": "#ffffff", "text": "#1f2328", "faint": "#6e7781", "black": "#1f2328", "red": "#cf222e", "green": "#116329", "yellow": "#7d4e00",
    "blue": "#0550ae", "magenta": "#8250df", "cyan": "#1b7c83", "white": "#6e7781", "edge": "#d0d7de",
}
DARK = {
    "back": "#0d1117", "text": "#e6edf3", "faint": "#8b949e", "black": "#8b949e", "red": "#ff7b72", "green": "#7ee787", "yellow": "#e3b341",
    "blue": "#79c0ff", "magenta": "#d2a8ff", "cyan": "#76e3ea", "white": "#e6edf3", "edge": "#30363d",
}


class Style:
    """How a run of characters looks."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.front = self.back = None
        self.bold = self.faint = self.italic = self.underline = self.reverse = self.struck = False

    def key(self):
        return (self.front, self.back, self.bold, self.faint, self.italic, self.underline, self.reverse, self.struck)

    def take(self, parameters):
        """An SGR sequence."""
        numbers = [int(one or 0) for one in re.split("[;:]", parameters)] or [0]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                self.reset()
            elif number in (38, 48):
                colour = colour_of(numbers)
                if number == 38:
                    self.front = colour
                else:
                    self.back = colour
            elif 30 <= number <= 37 or 90 <= number <= 97:
                self.front = NAMES[number % 10]
            elif 40 <= number <= 47 or 100 <= number <= 107:
                self.back = NAMES[number % 10]
            elif number == 39:
                self.front = None
            elif number == 49:
                self.back = None
            elif number == 22:
                self.bold = self.faint = False
            else:
                switch = {1: "bold", 2: "faint", 3: "italic", 4: "underline", 7: "reverse", 9: "struck"}
                if number in switch:
                    setattr(self, switch[number], True)
                elif number - 20 in switch:
                    setattr(self, switch[number - 20], False)


def colour_of(numbers):
    """The colour after 38 or 48: one of 256, or red, green and blue."""
    kind = numbers.pop(0) if numbers else 0
    if kind == 2:
        while len(numbers) > 3 and len(numbers) % 3:
            numbers.pop(0)
        red, green, blue = (numbers.pop(0) for _ in range(3))
        return f"#{red:02x}{green:02x}{blue:02x}"
    index = numbers.pop(0) if numbers else 0
    if index < 16:
        return NAMES[index % 8]
    if index < 232:
        index -= 16
        levels = [0, 95, 135, 175, 215, 255]
        return "#" + "".join(f"{levels[index // step % 6]:02x}" for step in (36, 6, 1))
    return "#" + f"{8 + 10 * (index - 232):02x}" * 3


def cells(text):
    """How many columns a text takes."""
    return sum(0 if unicodedata.combining(one) or one in "\u200d\ufe0f" else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)


def runs(row, style):
    """The parts of a row with one look each: column, text, look."""
    column, found, at = 0, [], 0
    for sequence in [*SEQUENCE.finditer(row), None]:
        text = row[at:sequence.start()] if sequence else row[at:]
        if text:
            found.append((column, text, style.key()))
            column += cells(text)
        if sequence:
            at = sequence.end()
            if sequence.group(1) is not None:
                style.take(sequence.group(1))
    return found


def fill(colour, otherwise):
    if colour is None:
        return f"var(--{otherwise})"
    return colour if colour.startswith("#") else f"var(--{colour})"


def draw(rows, columns, title):
    """The picture, as SVG."""
    width, height = MARGIN * 2 + columns * WIDTH, MARGIN * 2 + len(rows) * HEIGHT
    variables = [";".join(f"--{name}:{value}" for name, value in colours.items()) for colours in (LIGHT, DARK)]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}" role="img">',
        f"<title>{html.escape(title)}</title>",
        f"<style>svg{{{variables[0]}}}@media(prefers-color-scheme:dark){{svg{{{variables[1]}}}}}"
        "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}</style>",
        f'<rect x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1}" rx="8" fill="var(--back)" stroke="var(--edge)"/>',
    ]
    style = Style()
    for number, row in enumerate(rows):
        top = MARGIN + number * HEIGHT
        for column, text, look in runs(row, style):
            front, back, bold, faint, italic, underline, reverse, struck = look
            left, wide = MARGIN + column * WIDTH, cells(text) * WIDTH
            if reverse:
                front, back = fill(back, "back"), fill(front, "text")
            else:
                front, back = fill(front, "faint" if faint else "text"), fill(back, "back") if back else None
            if back:
                out.append(f'<rect x="{left:.1f}" y="{top}" width="{wide:.1f}" height="{HEIGHT}" fill="{back}"/>')
            if text.strip() and set(text) <= set("▀▄█ "):
                out.extend(blocks(text, left, top, front))
                continue
            if not text.strip() and not underline:
                continue
            more = (' font-weight="bold"' if bold else "") + (' font-style="italic"' if italic else "")
            lines = " ".join(name for name, wanted in (("underline", underline), ("line-through", struck)) if wanted)
            more += f' text-decoration="{lines}"' if lines else ""
            out.append(
                f'<text x="{left:.1f}" y="{top + 14}" textLength="{wide:.1f}" lengthAdjust="spacingAndGlyphs" fill="{front}"{more}>'
                f"{html.escape(text)}</text>"
            )
    return "\n".join([*out, "</svg>"]) + "\n"


def blocks(text, left, top, colour):
    """Half blocks as rectangles: fonts leave gaps between them."""
    halves = {"▀": (0, HEIGHT / 2), "▄": (HEIGHT / 2, HEIGHT / 2), "█": (0, HEIGHT)}
    for number, one in enumerate(text):
        if one in halves:
            down, high = halves[one]
            yield f'<rect x="{left + number * WIDTH:.1f}" y="{top + down:g}" width="{WIDTH + .1:.1f}" height="{high:g}" fill="{colour}"/>'
