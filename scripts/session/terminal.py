"""A real terminal: the program in tmux, its keys, and all its rows with their colours."""
import os
import pathlib
import select
import shlex
import subprocess
import time

PATIENCE = 60  # seconds without the expected text


class Failed(Exception):
    """The session did not go as its file says."""


class Terminal:
    """A shell in a window of its own. Its prompt is `$ `."""

    def __init__(self, root, folder, environment, columns, rows, patience=PATIENCE):
        self.socket = str(root / "tmux")
        self.patience = patience
        self.seen = 0  # rows that earlier steps have waited for
        shell = "exec sh -i"
        words = ["env", "-i", *(f"{name}={value}" for name, value in environment.items()), "sh", "-c", shell]
        config = root / "tmux.conf"
        config.write_text("set -g default-terminal tmux-256color\nset -g history-limit 5000\nset -g status off\nset -sg escape-time 0\n")
        self.tmux("-f", str(config), "new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(folder), shlex.join(words))
        # What the window is told also comes here, so that nobody has to look again and again.
        self.changes = root / "changes"
        os.mkfifo(self.changes)
        self.pipe = os.open(self.changes, os.O_RDWR | os.O_NONBLOCK)
        self.tmux("pipe-pane", f"cat > {shlex.quote(str(self.changes))}")

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-S", self.socket, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"tmux {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def rows(self, colours=False):
        """Everything that was drawn, from the first row on, without the empty rest of the window."""
        more = ["-e"] if colours else []
        rows = self.tmux("capture-pane", "-p", *more, "-S", "-").split("\n")
        while rows and not rows[-1].strip():
            rows.pop()
        return rows

    def wait(self, text, last_row=False):
        """Until a row that nobody has waited for yet has the text; with `last_row`, until the last one is the text."""
        until = time.monotonic() + self.patience
        while True:
            rows = self.rows()
            if last_row:
                if rows and rows[-1].rstrip() == text:
                    return
            else:
                for number in range(self.seen, len(rows)):
                    if text in rows[number]:
                        self.seen = number + 1
                        return
            left = until - time.monotonic()
            if left <= 0:
                raise Failed(f"{text!r} did not appear:\n" + "\n".join(rows))
            if select.select([self.pipe], [], [], left)[0]:
                os.read(self.pipe, 1 << 20)

    def types(self, line):
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def presses(self, key):
        """Answers the question that is open, once it listens."""
        self.wait("❚ ?", last_row=True)
        self.tmux("send-keys", *(["-l", key] if len(key) == 1 else [key]))

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)
        os.close(self.pipe)


def program_folder(root, binary):
    """A folder for PATH in which the program has its name."""
    folder = pathlib.Path(root) / "bin"
    folder.mkdir()
    (folder / "interpreter").symlink_to(pathlib.Path(binary).resolve())
    return folder
