# The Python kernel's driver: runs cells in one namespace and claims what came of each.
#
# Cells come in on descriptor 3 as a decimal length, a newline and that many bytes. The words by
# which one was called may come before it: see `script.py`. Claims go out as JSON lines. Descriptors 1 and 2 belong to the code. Nothing here is a boundary:
# the code can reach all of it, so whoever reads the claims believes none of them.
#
# This file is compiled at every start, so it holds what every cell needs and imports what
# every interpreter has built in. The rest stands in files beside it, one for each thing, and
# is loaded when a cell first needs it. None of them uses more than the standard library.
#
# What is needed is taken by name at the start, so that code which replaces built-ins or parts
# of modules breaks only itself.
import builtins
import sys
from _signal import SIGINT, default_int_handler, getsignal, signal
from _thread import RLock
from os import close, dup2, fstat, getcwd, lseek, read, register_at_fork, write
from time import monotonic

LONGEST = 1_000_000  # Characters of one text in a claim; claims are capped by their reader.
AT_ONCE = 4096  # Bytes that a socket takes whole or not at all.
TOP_LEVEL_AWAIT, ONLY_TREE, COROUTINE = 0x2000, 0x400, 0x80  # As in `ast` and `inspect`.
SOURCES = 500  # How many cells' text is kept, for tracebacks through what they defined.
LINES = 64  # How many lines of a cell are claimed as they come; of later ones, those that
LONG = 0.05  # come so many seconds after the last.

ESCAPES = {code: f"\\u{code:04x}" for code in (*range(32), ord('"'), ord("\\"))}

# By any of `_repr_html_` and its like a value has more forms than text.
FORMS = "mimebundle html markdown svg png jpeg latex json pdf javascript"
RICH = [f"_repr_{form}_" for form in FORMS.split()]
# These modules behave as in a notebook: see `imports.py`.
WATCHED = {"linecache", "getpass", "pandas", "matplotlib", "matplotlib.pyplot"}
WATCHED |= {"plotly.basedatatypes", "PIL.ImageShow"}
# Well known packages, as the analysis lists them: a file of the folder never stands in for one of
# these, since code that imports them may run without being asked about.
LISTED = "IPython PIL bs4 dateutil httpx matplotlib mpl_toolkits networkx numpy openpyxl pandas plotly"
LISTED = {*LISTED.split(), *"polars pytz requests scipy seaborn sklearn statsmodels".split()}
LISTED |= {"tabulate", "tqdm", "yaml"}
STANDARD = frozenset(getattr(sys, "stdlib_module_names", ()))
IMPORTING = {"importlib", "_frozen_importlib", "_frozen_importlib_external", "zipimport"}

# Functions defined from here on look built-ins up in this copy.
__builtins__ = dict(vars(builtins))
driver, modules = sys.modules["__main__"], sys.modules
folder = __file__[: -len("driver.py")]
parts = {}


def load(name):
    """One of the files beside this one, as a module that nobody else can import."""
    if name not in parts:
        part = type(sys)(f"driver_{name}")
        part.__builtins__, part.__file__, part.driver = __builtins__, f"{folder}{name}.py", driver
        with open(part.__file__, "rb") as file:
            exec(compile(file.read(), part.__file__, "exec", 0, True), part.__dict__)
        parts.setdefault(name, part)  # Another thread may have been faster.
    return parts[name]


def complain(text):
    try:
        write(2, f"{text}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        pass  # The code closed it.


def flush():
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except Exception:
            pass  # The code closed, replaced or removed it.


def quote(text, longest=LONGEST):
    """Text as JSON. Not by `json`, which takes as long to import as all else."""
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text)} characters in all)"
    if not text.isascii():
        # A lone surrogate is not text, and JSON that holds one is refused.
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return f'"{text.translate(ESCAPES)}"'


class Control:
    """The socket to the host."""

    def __init__(self):
        # Out of the way of code that uses low descriptors itself.
        self.descriptor = dup2(3, 40, inheritable=False)
        close(3)
        self.received = bytearray()
        self.lock = RLock()
        self.shared = False  # With a copy of the kernel: see `checkpoints.py`.

    def forget(self):
        """A forked child runs the cell to its end, but the cell is not its own to claim."""
        if self.shared:
            return
        if self.descriptor is not None:
            close(self.descriptor)
        self.descriptor = None

    def receive(self):
        """The next message: its sign, which only answers to questions have, and its bytes. How
        code could go on is answered on the way, and a copy of the kernel is made on the way."""
        while True:
            while b"\n" not in self.received:
                self.receive_more()
            start = self.received.index(b"\n") + 1
            sign, (length, *cursor) = bytes(self.received[:1]), self.received[:start].split()
            end = start + max(int(length.lstrip(b"?@!")), 0)
            while len(self.received) < end:
                self.receive_more()
            message = bytes(self.received[start:end])
            del self.received[:end]
            if sign == b"!":
                load("checkpoints").take(int(cursor[0]))
            elif sign == b"?":
                load("completion").answer(message, int(cursor[0]))
            else:
                return sign if sign in b"+-@" else b"", message

    def receive_more(self):
        piece = read(self.descriptor, 65536)
        if not piece:
            # At the end of a socket the host is gone; it is one unless the code replaced it.
            raise SystemExit(0) if fstat(self.descriptor).st_mode >> 12 == 0o14 else OSError
        self.received += piece

    def next_cell(self):
        try:
            called = None
            sign, message = self.receive()
            while sign:  # An answer that nobody waits for any more is not a cell.
                if sign == b"@":
                    called = message
                sign, message = self.receive()
            return message, called
        except (OSError, ValueError):
            self.lost()

    def claim(self, kind, fields):
        if self.descriptor is None:
            return
        line = f'{{"kind":"{kind}",{fields}}}\n'.encode("utf-8")
        try:
            with self.lock:
                if len(line) <= AT_ONCE:
                    write(self.descriptor, line)
                else:
                    load("rich").write_all(self.descriptor, line)
        except OSError:
            self.lost()

    def lost(self):
        complain("the code took the kernel's control socket away; the kernel ends")
        raise SystemExit(1)


class Cells:
    """The namespace and what lasts from cell to cell beside it."""

    def __init__(self):
        self.module = type(sys)("__main__")
        self.module.__builtins__ = builtins
        self.flags = TOP_LEVEL_AWAIT
        self.handler = default_int_handler
        self.sources = {}
        self.running = False
        # Whether standard input is a file, which every cell reads from its start.
        self.reads_file = fstat(0).st_mode >> 12 == 0o10
        # The virtual environment, until the first cell has entered it.
        self.environment = sys.argv[1] if len(sys.argv) > 1 else ""
        # Where packages of the folder are, or will be.
        self.packages = sys.argv[2] if len(sys.argv) > 2 else ""

    def run(self, name, source):
        try:
            try:
                signal(SIGINT, self.handler)
                self.running = True
                if self.environment:
                    load("environment").enter()
                if self.packages:
                    load("packages").look()
                if self.reads_file:
                    lseek(0, 0, 0)
                    sys.stdin = open(0, closefd=False)
                self.execute(name, source)
            finally:
                try:
                    if "matplotlib.pyplot" in modules:
                        load("rich").show_figures()
                finally:
                    # The code may have set a handler of its own: it waits for the next cell.
                    self.handler = getsignal(SIGINT) or self.handler
                    signal(SIGINT, ignore)
            return 0
        except SystemExit:
            raise
        except KeyboardInterrupt:
            signal(SIGINT, ignore)
            complain("KeyboardInterrupt")
            return 130
        except BaseException as error:
            load("errors").report(error, name)
            return 1
        finally:
            self.running = False
            if "questions" in parts:
                parts["questions"].end()

    def forget(self, name):
        """A session without end must not keep the text of every cell."""
        self.sources.pop(name, None)
        cache = getattr(modules.get("linecache"), "cache", None)
        if type(cache) is dict:
            cache.pop(name, None)

    def execute(self, name, source):
        self.sources[name] = source
        if "linecache" in modules:
            load("errors").keep_sources()
        # As text: of bytes Python obeys a coding cookie, by which a comment can become code.
        try:
            text = source.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        except UnicodeDecodeError as error:
            raise SyntaxError(f"the code is not UTF-8: {error}") from None
        if b"\n" not in source:
            try:
                code = compile(text, name, "eval", self.flags, True)
            except SyntaxError:
                pass
            else:  # A lone expression needs no tree.
                return sys.displayhook(self.run_codes(name, [(1, code)]))
        try:
            tree = compile(text, name, "exec", self.flags | ONLY_TREE, True)
        except SyntaxError:
            if b"!" not in source and b"%" not in source:
                raise
            tree = None
        if tree is None:
            load("notebook").run(name, source)
        else:
            self.run_codes(name, self.compile(name, tree, source))

    def compile(self, name, tree, source):
        """Each statement with its line. All are compiled before the first runs."""
        from _ast import Constant, Expr, Interactive, Module

        codes, flags, last = [], self.flags, len(tree.body) - 1
        may_change_flags = b"__future__" in source
        for index, node in enumerate(tree.body):
            part, mode = Module([node], []), "exec"
            if type(node) is Expr:
                if index == last and not is_silenced(node, source):
                    part, mode = Interactive([node]), "single"
                elif index > 0 and type(node.value) is Constant:
                    continue  # Alone it would be taken for the documentation of the module.
            code = compile(part, name, mode, flags, True)
            if may_change_flags:
                import __future__ as future

                every = [getattr(future, feature) for feature in future.all_feature_names]
                flags |= code.co_flags & sum(feature.compiler_flag for feature in every)
            codes.append((node.lineno, code))
        self.flags = flags
        return codes

    def run_codes(self, name, codes):
        """Runs code after code; the value is that of the last."""
        for _, code in codes:
            if code.co_flags & COROUTINE:
                return load("awaiting").run(name, codes)
        value = None
        for code in self.steps(codes):
            value = eval(code, self.module.__dict__)
        return value

    def steps(self, codes):
        """Each code once its line is claimed. Only statements of the cell itself have one, so
        that loops and functions run at their full speed; that a lone statement on the first
        line is the one that runs goes without saying."""
        told, at, reached = 0, 0.0, 1 if len(codes) == 1 else 0
        for line, code in codes:
            if line != reached:
                now = monotonic()
                if told < LINES or now - at >= LONG:
                    told, at, reached = told + 1, now, line
                    control.claim("line", f'"line":{line}')
            yield code


def is_silenced(node, source):
    """Whether a semicolon follows the last expression, as people write to hide its value."""
    if b";" not in source:
        return False
    rest = source.split(b"\n")[node.end_lineno - 1 :]
    rest[0] = rest[0][node.end_col_offset :]
    return b"\n".join(rest).lstrip(b" \t\f\r\n\\").startswith(b";")


def show(value):
    """What `sys.displayhook` does, with a claim instead of a line on stdout."""
    if value is None:
        return
    builtins._ = None
    for name in RICH:
        if hasattr(type(value), name):
            load("rich").show_last(value)
            break
    else:
        text = repr(value)
        flush()
        control.claim("result", f'"bundle":{{"text/plain":{quote(text)}}}')
    builtins._ = value


def display(*objects, **options):
    """Shows objects in every form they have. With `display_id`, an id or True for a new one,
    the answer is a handle by which another object takes their place. With `raw=True` the
    objects are forms by kind: `{"text/html": "<b>bold</b>"}`."""
    return load("rich").display(*objects, **options)


def update_display(object, *, display_id, **options):
    """Shows an object in the place of what was shown with that `display_id`."""
    display(object, display_id=display_id, **options)


def input(prompt="", /):
    """Asks the person for a line."""
    return load("questions").ask(prompt, "false")


class Watch:
    """Sees modules being imported."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return load("imports").find(Watch, name, path, target) if name in WATCHED else None


def is_told(code, name):
    """Whether a piece of code itself speaks of a module, and was not given its name."""
    texts = [*code.co_names, *(one for one in code.co_consts if isinstance(one, str))]
    return any(text.partition(".")[0] == name for text in texts)


def is_for_others(name):
    """Whether a well known package imports, or a module of Python what itself speaks of, and not
    the code: told by the frames behind it."""
    frame, is_first = sys._getframe(2), True
    while frame is not None:
        root = str(frame.f_globals.get("__name__")).partition(".")[0]
        if root in LISTED:
            return True
        if root == "__main__":
            return False
        if root not in IMPORTING:
            if is_first and root in STANDARD and is_told(frame.f_code, name):
                return True
            is_first = False
        frame = frame.f_back
    return False


class Listed:
    """Finds well known packages, and what those and Python's own modules import, everywhere but in
    the folder where the code runs: they try many a name that may not be installed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if path is not None or not (name in LISTED or is_for_others(name)):
            return None
        here = {"", "."}
        try:
            here.add(getcwd())
        except OSError:
            pass  # The folder is gone, so nothing is found in it.
        elsewhere = [place for place in sys.path if place not in here]
        for finder in sys.meta_path:
            if finder is Listed or finder is Watch:
                continue
            is_by_path = getattr(finder, "__name__", "") == "PathFinder"
            found = finder.find_spec(name, elsewhere if is_by_path else None, target)
            if found is not None:
                return found
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def first_place():
    """The place on the path behind Python's own modules, and before all packages."""
    ends = ("/site-packages", "/dist-packages")
    own = [at for at, place in enumerate(sys.path) if place.endswith(ends)]
    return own[0] if own else len(sys.path)


def ignore(number, frame):
    """Between cells an interrupt is nobody's. Not SIG_IGN, which programs would inherit."""


def main():
    signal(SIGINT, ignore)
    register_at_fork(after_in_child=control.forget)
    # Lines go out as they are printed, and not when a buffer is full.
    sys.stdout.reconfigure(line_buffering=True)
    modules["__main__"] = cells.module
    sys.meta_path[:0] = [Watch, Listed]
    sys.displayhook = show
    builtins.display, builtins.update_display = display, update_display
    # Where standard input is a pipe or a file, it is the code's own; elsewhere the person is asked.
    if fstat(0).st_mode >> 12 == 0o2:
        builtins.input = input
    else:
        WATCHED.discard("getpass")
    sys.argv = [""]
    # What the folder holds can be imported, as in an interpreter that was started there, but
    # nothing of it in place of Python's own modules.
    sys.path.insert(first_place(), "")
    control.claim("ready", f'"version":"{sys.version.split()[0]}","completes":true,"checkpoints":true')
    count = 0
    while True:
        source, called = control.next_cell()
        if "checkpoints" in parts:
            parts["checkpoints"].bury()
        if called is not None and load("script").take(called):
            raise SystemExit(load("script").run(source))
        count += 1
        cells.forget(f"<cell {count - SOURCES}>")
        status = cells.run(f"<cell {count}>", source)
        flush()
        if control.descriptor is None:
            raise SystemExit(status)
        control.claim("finished", f'"status":{status}')


control, cells = Control(), Cells()
# From a frame of its own: before Python 3.10, functions take their caller's built-ins.
eval("main()", {"main": main, "__builtins__": __builtins__})
