# Part of the Python kernel's driver: how code could go on where the cursor is.
#
# Between cells nothing of the person's code may run, so nothing here calls a property, `__dir__`
# or `__getattr__` of theirs: names are read from where objects and classes keep them, and only what
# stands there as a plain value is looked into.
from keyword import kwlist
from os import scandir

MOST, LONGEST = 200, 200  # As whoever reads the claim has it.
ENTRIES = 2_000  # Of a folder.

# As `type` itself has them, whatever a metaclass says.
members = type.__dict__["__dict__"].__get__
ancestry = type.__dict__["__mro__"].__get__
plain = object.__getattribute__


def answer(code, cursor):
    """Claims completions; none if anything goes wrong."""
    start, matches = cursor, []
    try:
        if not driver.cells.running:
            start, matches = find(code[:cursor].decode("utf-8"))
            start = cursor - len(start.encode("utf-8"))
    except Exception:
        start, matches = cursor, []
    names = ",".join(driver.quote(name) for name in matches)
    driver.control.claim("completions", f'"start":{start},"end":{cursor},"matches":[{names}]')


def find(text):
    """The part at the end of the text that would be replaced, and by what."""
    line = text.rpartition("\n")[2]
    path = open_text(line)
    if path is not None:
        return path.rpartition("/")[2], cut(files(path))
    names = tail(line)
    *base, part = names.split(".")
    found = attributes(base) if base else everything()
    hidden = part.startswith("_")
    fits = [name for name in found if name.startswith(part) and (hidden or name[0] != "_")]
    return part, cut(fits)


def cut(names):
    return [name for name in sorted(set(names)) if len(name.encode("utf-8")) <= LONGEST][:MOST]


def open_text(line):
    """What stands in quotes that are not closed: perhaps the name of a file."""
    quote, at, escaped = "", 0, False
    for index, character in enumerate(line):
        if escaped:
            escaped = False
        elif quote and character == "\\":
            escaped = True
        elif character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote, at = character, index + 1
        elif not quote and character == "#":
            return None
    return line[at:] if quote else None


def files(path):
    folder, _, part = path.rpartition("/")
    folder = f"{folder}/" if "/" in path else "."
    with scandir(folder) as entries:
        for _, entry in zip(range(ENTRIES), entries):
            if entry.name.startswith(part) and (part or entry.name[0] != "."):
                yield f"{entry.name}/" if entry.is_dir() else entry.name


def tail(line):
    """The names and dots at the end of a line."""
    at = len(line)
    while at and (line[at - 1] == "." or line[at - 1].isidentifier() or line[at - 1].isdigit()):
        at -= 1
    names = line[at:]
    # A number is not a name, and neither is what follows a bracket.
    if at and names.startswith(".") and line[at - 1] in ")]}'\"":
        raise LookupError
    return names


def namespace():
    return driver.cells.module.__dict__


def keys(names):
    # Of their own, texts may compare in their own way.
    return [name for name in list(names) if type(name) is str and name]


def everything():
    return [*keys(namespace()), *keys(driver.builtins.__dict__), *kwlist]


def attributes(base):
    value = look(base[0], [namespace(), driver.builtins.__dict__], [])
    for name in base[1:]:
        value = look(name, *places(value))
    own, classes = places(value)
    names = [name for place in (*own, *classes) for name in keys(place)]
    return [name for name in names if name.isidentifier()]


def places(value):
    """The dictionaries in which a value's attributes stand: its own, and those of classes."""
    kind = type(value)
    if issubclass(kind, type):
        return [], [members(one) for one in ancestry(value)]
    try:
        own = plain(value, "__dict__")
    except AttributeError:
        own = None
    return [own] if type(own) is dict else [], [members(one) for one in ancestry(kind)]


def look(name, own, classes):
    for place in own:
        if name in place:
            return place[name]
    for place in classes:
        if name in place:
            # Methods, properties and their like have to be called to give a value.
            if any("__get__" in members(one) for one in ancestry(type(place[name]))):
                break
            return place[name]
    raise LookupError(name)
