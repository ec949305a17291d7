"""A program at a pseudo-terminal, as a person would have it: started, prompted, left.

The terminal answers the one question that line editors ask it (where the cursor is).
"""
import os
import pty
import re
import select
import signal
import time

from benchmark.clock import Failed

WHERE_IS_THE_CURSOR, AT_THE_TOP = b"\x1b[6n", b"\x1b[1;1R"
COLOURS = re.compile(rb"\x1b(\[[0-9;?]*[a-zA-Z]|[78])")
PATIENCE = 120


class Terminal:
    def __init__(self, command, cwd, env):
        self.began, self.seen = time.perf_counter(), b""
        self.process, self.end = pty.fork()
        if self.process == 0:
            try:
                os.chdir(cwd)
                os.execvpe(command[0], command, env)
            finally:
                os._exit(127)

    def until(self, sign):
        """Reads until the sign, a pattern for the text without its colours, was shown; seconds since the start."""
        pattern = re.compile(sign)
        while not pattern.search(COLOURS.sub(b"", self.seen)):
            if not select.select([self.end], [], [], PATIENCE)[0]:
                raise Failed(f"nothing came for {PATIENCE} s, after {self.seen[-200:]!r}")
            try:
                piece = os.read(self.end, 1 << 16)
            except OSError:
                piece = b""
            if not piece:
                raise Failed(f"it ended after {self.seen[-200:]!r}")
            if WHERE_IS_THE_CURSOR in piece:
                os.write(self.end, AT_THE_TOP)
            self.seen += piece
        return time.perf_counter() - self.began

    def type(self, text):
        self.seen = b""
        os.write(self.end, text.encode())

    def settle(self, seconds):
        """Lets the program do what it does while a person thinks, and reads what it prints."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([self.end], [], [], left)[0]:
                os.read(self.end, 1 << 16)

    def ends(self):
        """Reads until the program has closed its end, so that its record is whole."""
        try:
            while os.read(self.end, 1 << 16):
                pass
        except OSError:
            pass

    def close(self):
        """Ends the program as a closed window does, and by force if it stays."""
        os.close(self.end)
        until = time.monotonic() + 5
        while time.monotonic() < until:
            if os.waitpid(self.process, os.WNOHANG)[0]:
                return
            time.sleep(0.01)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
