# Part of the Python kernel's driver: what commands and magics of a notebook do.
#
# Cells reach it as `__notebook__`, by words that `notebook.py` puts in place of their lines.
# What a program prints goes straight to where the code's own output goes.
import os
import re
import resource
import shlex
import subprocess
import time
from contextlib import contextmanager

sys = driver.sys
SHELL = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
LINE_MAGICS = ("pip", "cd", "pwd", "env", "timeit", "matplotlib")
CELL_MAGICS = ("bash", "sh", "writefile", "html", "markdown", "latex", "svg", "javascript")
VARIABLE = re.compile(r"(?<!\$)(?:\$([^\W\d]\w*)|\{([^{}\n]+)\})")
PIP = re.compile(r"\s*pip3?\s")
# What is installed ends at a pipe, a redirection or the next command, which alone goes on.
INSTALL = re.compile(
    r"\s*(?:(?:\S*/)?python[\d.]*\s+-m\s+)?pip3?\s+install\s(?P<names>(?:(?!\s\d?>|\s?\||&&|;).)*)"
    r"(?:(?!&&|;).)*(?:(?:&&|;)(?P<after>.*))?",
    re.DOTALL,
)
visited = []


def shell(command):
    """Runs a command and waits for it."""
    call(command, None)


def lines_of(command):
    """Runs a command; its output as a list of lines."""
    lines = call(command, subprocess.PIPE).decode("utf-8", "replace").split("\n")
    return lines if lines[-1] else lines[:-1]


def call(command, output):
    return start(with_values(command, sys._getframe(2)), output)


def start(command, output):
    wanted = INSTALL.match(command) if driver.cells.packages else None
    if wanted is not None:
        # The sandbox has no index, and what is installed in it is gone with it.
        names, after = wanted.group("names", "after")
        driver.load("packages").install(names.split())
        return start(after, output) if after else b""
    if PIP.match(command):
        # Not the first `pip` there is, which may serve another Python.
        command = PIP.sub(lambda _: f"{shlex.quote(sys.executable)} -m pip ", command, 1)
    driver.flush()
    done = subprocess.run(command, shell=True, executable=SHELL, stdout=output)
    driver.cells.module._exit_code = done.returncode
    if " -m pip " in command:
        find_installed()
    return done.stdout


def with_values(text, frame):
    """Puts values of the code's own variables in the place of `{expression}` and `$name`."""

    def value(found):
        name, expression = found.groups()
        try:
            code = compile(name or expression, "", "eval", 0, True)
            own = any(one in frame.f_locals or one in frame.f_globals for one in code.co_names)
            return str(eval(code, frame.f_globals, frame.f_locals)) if own else found[0]
        except Exception:
            return found[0]  # The shell's own.

    return VARIABLE.sub(value, text)


def find_installed():
    """What `pip` has installed can be imported, even if it went to the person's own folder."""
    import importlib
    import site

    importlib.invalidate_caches()
    folder = site.getusersitepackages()
    if folder not in sys.path and os.path.isdir(folder):
        sys.path.append(folder)


def pip(rest):
    call(f"pip {rest}", None)


def cd(rest):
    folder = with_values(rest, sys._getframe(1)).strip().strip("\"'") or "~"
    before = os.getcwd()
    os.chdir(visited[-1] if folder == "-" and visited else os.path.expanduser(folder))
    visited[:] = [before]
    print(os.getcwd())


def pwd(rest):
    return os.getcwd()


def env(rest):
    rest = rest.strip()
    if not rest:
        return dict(os.environ)
    name, _, value = rest.replace("=", " ", 1).partition(" ")
    if rest == name:
        return os.environ.get(name)
    os.environ[name] = with_values(value.strip(), sys._getframe(1))
    print(f"env: {name}={os.environ[name]}")


def now():
    return time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)


def tell_time(started):
    (wall, before), (now_wall, after) = started, now()
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    print(
        f"CPU times: user {seconds(user)}, sys: {seconds(system)}, total: {seconds(user + system)}"
    )
    print(f"Wall time: {seconds(now_wall - wall)}")


@contextmanager
def timing():
    started = now()
    try:
        yield
    finally:
        tell_time(started)


def timed(started, value):
    tell_time(started)
    return value


def seconds(duration):
    if duration >= 60:
        return f"{duration // 60:.0f}min {duration % 60:.0f}s"
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if duration >= 0.9995 * size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration * 1e9:.3g} ns"


def timeit(rest):
    from timeit import Timer

    timer = Timer(rest, globals=sys._getframe(1).f_globals)
    count, _ = timer.autorange()
    runs = [one / count for one in timer.repeat(5, count)]
    print(f"{seconds(min(runs))} to {seconds(max(runs))} per loop (5 runs of {count:,} loops)")


def run_script(program, rest, script):
    driver.flush()
    status = subprocess.run([program, "-c", script, program, *shlex.split(rest)]).returncode
    if status != 0:
        raise subprocess.CalledProcessError(status, program)


def bash(rest, script):
    run_script("bash", rest, script)


def sh(rest, script):
    run_script("sh", rest, script)


def writefile(rest, text):
    words = shlex.split(with_values(rest, sys._getframe(1)))
    mode = "a" if words[:1] == ["-a"] else "w"
    if len(words) != (2 if mode == "a" else 1):
        raise ValueError("one file is needed: `%%writefile PATH`, or `%%writefile -a PATH`")
    with open(os.path.expanduser(words[-1]), mode, encoding="utf-8") as file:
        file.write(text if text.endswith("\n") else f"{text}\n")
    print(f"{'Appended to' if mode == 'a' else 'Wrote'} {words[-1]}")


def show_as(form):
    def show(rest, text):
        driver.load("rich").show({form: text}, None, True)

    return show


html = show_as("text/html")
markdown = show_as("text/markdown")
latex = show_as("text/latex")
svg = show_as("image/svg+xml")
javascript = show_as("application/javascript")
