# Part of the Python kernel's driver: lines that Python does not have and notebooks do.
#
# `!command` and `%magic` are put into words of Python. A cell comes here only if it is not Python
# as it stands, and only lines where a statement may start are touched: what stands in strings,
# brackets and comments is left alone. Every line keeps its number.
import re

sys = driver.sys

# What must be told apart to know where a statement starts.
TOKEN = re.compile(
    r"""
    \"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:\"{3}|\Z)   # Strings, even if they do not end,
  | '{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'{3}|\Z)
  | "[^"\\\n]*(?:\\.[^"\\\n]*)*"?
  | '[^'\\\n]*(?:\\.[^'\\\n]*)*'?
  | \#[^\n]*                                             # comments,
  | \\.                                                  # lines that go on,
  | [()\[\]{}\n]
  | [^"'\#\\()\[\]{}\n]+
  | .
    """,
    re.VERBOSE | re.DOTALL,
)
LINE = re.compile(
    r"""
    (?P<before>[ \t]*(?:[^\W\d][\w.,\[\]"' \t]*?=[ \t]*)?)
    (?:!(?P<command>[^=\n](?:\\\n|[^\n])*)|%(?P<magic>\w+)[ \t]*(?P<rest>(?:\\\n|[^\n])*))
    """,
    re.VERBOSE,
)
CELL = re.compile(r"(?P<blank>\s*)%%(?P<magic>\w+)[ \t]*(?P<rest>[^\n]*)(?P<body>.*)", re.DOTALL)


def run(name, source):
    """Runs a cell that is not Python as it stands."""
    try:
        text = driver.load("errors").decode(source)
    except Exception:
        return run_source(name, source)  # Raises: it is not even text.
    tools = driver.builtins.__notebook__ = driver.load("magic")
    cell = CELL.fullmatch(text)
    if cell is None:
        return run_source(name, translate(name, text, tools))
    blank, magic, rest, body = cell.group("blank", "magic", "rest", "body")
    if magic == "time":
        with tools.timing():
            run_source(name, blank + translate(name, rest + body, tools))
    elif magic in tools.CELL_MAGICS:
        run_source(name, f"{blank}__notebook__.{magic}({rest!r}, {body[1:]!r})")
    else:
        unknown(name, text, cell.start("magic"), f"%%{magic}", tools.CELL_MAGICS)


def run_source(name, source):
    cells = driver.cells
    tree = compile(source, name, "exec", cells.flags | driver.ONLY_TREE, True)
    if isinstance(source, str):
        source = source.encode("utf-8")
    cells.run_codes(name, cells.compile(name, tree, source))


def translate(name, text, tools):
    """The text with every notebook line in words of Python."""
    words, at, depth, start = [], 0, 0, True
    while at < len(text):
        line = LINE.match(text, at) if start else None
        found = line or TOKEN.match(text, at)
        at, token, start = found.end(), found[0], False
        if line is not None:
            spoken = in_python(name, text, line, tools)
            token = spoken + "\n" * (token.count("\n") - spoken.count("\n"))
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(depth - 1, 0)
        else:
            start = token == "\n" and depth == 0
        words.append(token)
    return "".join(words)


def in_python(name, text, line, tools):
    before, command, magic, rest = line.group("before", "command", "magic", "rest")
    if command is not None:
        tool = "lines_of" if "=" in before else "shell"
        return f"{before}__notebook__.{tool}({command!r})"
    if magic == "time":
        try:
            compile(f"({rest})", name, "eval", driver.TOP_LEVEL_AWAIT, True)
        except SyntaxError:
            return f"{before}with __notebook__.timing(): {rest}"
        # Arguments are worked out in their order.
        return f"{before}__notebook__.timed(__notebook__.now(), ({rest}))"
    if magic == "matplotlib":
        return f"{before}pass"  # Figures are shown in any case.
    if magic in tools.LINE_MAGICS:
        return f"{before}__notebook__.{magic}({rest!r})"
    unknown(name, text, line.start("magic"), f"%{magic}", tools.LINE_MAGICS)


def unknown(name, text, at, magic, known):
    signs = magic[: -len(magic.lstrip("%"))]
    known = ", ".join(f"{signs}{one}" for one in ("time", *known))
    start, line = text.rfind("\n", 0, at) + 1, text.count("\n", 0, at) + 1
    place = (name, line, at - start, text[start:].split("\n", 1)[0])
    raise SyntaxError(f"there is no `{magic}` here; there are {known}", place)
