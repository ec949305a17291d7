# The Python kernel's driver: runs cells in one namespace and claims what came of each.
#
# Cells come in on descriptor 3 as a decimal length, a newline and that many bytes; claims go
# out on it as JSON lines. Descriptors 1 and 2 belong to the code. Nothing here is a boundary:
# the code can reach all of it, so whoever reads the claims believes none of them.
#
# Everything needed is taken by name at the start, so that code which replaces built-ins or
# parts of modules breaks only itself.
import __future__
import builtins
import sys
from _signal import SIGINT, default_int_handler, getsignal, signal
from ast import Expr, Interactive, PyCF_ALLOW_TOP_LEVEL_AWAIT, PyCF_ONLY_AST
from fcntl import F_DUPFD_CLOEXEC, fcntl
from importlib.util import decode_source
from inspect import CO_COROUTINE
from json.encoder import encode_basestring_ascii
from linecache import cache as sources
from os import close, read, register_at_fork, write
from traceback import format_exception
from types import ModuleType, TracebackType

LONGEST = 1_000_000  # Characters of one text in a claim; claims are capped by their reader.
FUTURES = 0
for feature in __future__.all_feature_names:
    FUTURES |= getattr(__future__, feature).compiler_flag

# Lines go out as they are printed, and not when a buffer is full.
sys.stdout.reconfigure(line_buffering=True)

# Functions defined from here on look built-ins up in this copy.
__builtins__ = dict(vars(builtins))


def quote(text):
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}… ({len(text)} characters in all)"
    # A lone surrogate is not text, and JSON that holds one is refused.
    return encode_basestring_ascii(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass  # The code closed or replaced it.


class Control:
    """The socket to the host."""

    def __init__(self):
        # Out of the way of code that uses low descriptors itself.
        self.descriptor = fcntl(3, F_DUPFD_CLOEXEC, 40)
        close(3)
        self.received = bytearray()

    def forget(self):
        """A forked child runs the cell to its end, but the cell is not its own to claim."""
        close(self.descriptor)
        self.descriptor = None

    def receive(self):
        piece = read(self.descriptor, 65536)
        if not piece:
            raise SystemExit(0)
        self.received += piece

    def next_cell(self):
        while b"\n" not in self.received:
            self.receive()
        start = self.received.index(b"\n") + 1
        end = start + int(self.received[:start])
        while len(self.received) < end:
            self.receive()
        cell = bytes(self.received[start:end])
        del self.received[:end]
        return cell

    def claim(self, kind, fields):
        if self.descriptor is None:
            return
        line = f'{{"kind":"{kind}",{fields}}}\n'.encode("ascii")
        try:
            while line:
                line = line[write(self.descriptor, line) :]
        except OSError:
            write(2, b"the code closed the kernel's control socket; the kernel ends\n")
            raise SystemExit(1)

    def show(self, value):
        """What `sys.displayhook` does, with a claim instead of a line on stdout."""
        if value is not None:
            builtins._ = None
            text = repr(value)
            flush()
            self.claim("result", f'"bundle":{{"text/plain":{quote(text)}}}')
            builtins._ = value


class Cells:
    """The namespace and what lasts from cell to cell beside it."""

    def __init__(self, control):
        self.control = control
        self.module = ModuleType("__main__")
        self.module.__builtins__ = builtins
        self.flags = PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.handler = default_int_handler
        self.loop = None

    def execute(self, name, source):
        try:
            text = decode_source(source)
        except Exception:
            text = source.decode("utf-8", "replace")  # `compile` says what is wrong with it.
        sources[name] = (len(text), None, text.splitlines(True), name)
        tree = compile(source, name, "exec", self.flags | PyCF_ONLY_AST, True)
        parts = [(tree, "exec")]
        if tree.body and isinstance(tree.body[-1], Expr):
            parts.append((Interactive([tree.body.pop()]), "single"))
        codes = []
        for part, mode in parts:
            code = compile(part, name, mode, self.flags, True)
            self.flags |= code.co_flags & FUTURES
            codes.append(code)
        for code in codes:
            awaited = eval(code, self.module.__dict__)
            if code.co_flags & CO_COROUTINE:
                self.run_until_done(awaited, name)

    def run_until_done(self, awaited, name):
        # The loop lives on between cells but does not run between them: it has no thread.
        task, interrupted, own = None, False, True

        def cancel():
            nonlocal interrupted
            interrupted = True
            task.cancel()

        def interrupt(number, frame):
            # Raised only in the cell's own code: amid the loop's it would lose what is due.
            while frame is not None:
                if frame.f_code.co_filename == name:
                    raise KeyboardInterrupt
                frame = frame.f_back

        try:
            import asyncio

            if self.loop is None or self.loop.is_closed():
                self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
            own = getsignal(SIGINT) is not default_int_handler
            task = self.loop.create_task(awaited)
            if not own:
                self.loop.add_signal_handler(SIGINT, cancel)
                signal(SIGINT, interrupt)
            try:
                self.loop.run_until_complete(task)
            except asyncio.CancelledError:
                if interrupted:
                    raise KeyboardInterrupt
                raise
        finally:
            if task is not None and not task.done():
                task._log_destroy_pending = False  # An interrupt came before it began.
            left = getsignal(SIGINT)
            if not own and not self.loop.is_closed():
                self.loop.remove_signal_handler(SIGINT)
            # A handler that the code set meanwhile is its own to keep.
            signal(SIGINT, default_int_handler if left in (None, interrupt) else left)
            awaited.close()

    def run(self, name, source):
        try:
            try:
                signal(SIGINT, self.handler)
                self.execute(name, source)
            finally:
                # The code may have set a handler of its own: it waits for the next cell.
                self.handler = getsignal(SIGINT) or self.handler
                signal(SIGINT, ignore)
            return 0
        except SystemExit:
            raise
        except KeyboardInterrupt:
            signal(SIGINT, ignore)
            write(2, b"KeyboardInterrupt\n")
            return 130
        except BaseException as error:
            self.report(error, name)
            return 1

    def report(self, error, name):
        kind, frames = type(error), without_driver(error.__traceback__, name)
        error.__traceback__ = frames
        sys.last_type, sys.last_value, sys.last_traceback, sys.last_exc = kind, error, frames, error
        try:
            message = str(error)
        except Exception:
            message = ""
        try:
            if kind is SyntaxError and error.filename == name and error.text is None:
                error.text = sources[name][2][error.lineno - 1]
            if sys.excepthook is sys.__excepthook__:
                sys.stderr.write("".join(format_exception(kind, error, frames)))
            else:
                sys.excepthook(kind, error, frames)
        except Exception:
            # The code broke what shows errors.
            write(2, f"{kind.__name__}: {message}\n".encode("utf-8", "backslashreplace"))
        self.control.claim("raised", f'"name":{quote(kind.__name__)},"message":{quote(message)}')


def without_driver(traceback, name):
    """The frames from the cell's own on, without those of this file between them."""
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    files = [frame.tb_frame.f_code.co_filename for frame in frames]
    first = files.index(name) if name in files else len(files)
    kept = None
    for frame, file in reversed(list(zip(frames, files))[first:]):
        if file != __file__:
            kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept


def ignore(number, frame):
    """Between cells an interrupt is nobody's. Not SIG_IGN, which programs would inherit."""


def main():
    control = Control()
    cells = Cells(control)
    signal(SIGINT, ignore)
    register_at_fork(after_in_child=control.forget)
    sys.modules["__main__"] = cells.module
    sys.displayhook = control.show
    sys.argv = [""]
    # What the folder holds can be imported, as in an interpreter that was started there.
    sys.path.insert(0, "")
    control.claim("ready", f'"version":{quote(sys.version.split()[0])}')
    count = 0
    while True:
        source = control.next_cell()
        count += 1
        status = cells.run(f"<cell {count}>", source)
        flush()
        if control.descriptor is None:
            raise SystemExit(status)
        control.claim("finished", f'"status":{status}')


main()
