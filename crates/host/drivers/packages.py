# Part of the Python kernel's driver: packages that are installed for the folder.
#
# They stand in a folder of their own, which code cannot change and which may be filled while the
# kernel runs. Before a cell runs, whatever came since the last one is made importable: behind
# Python's own modules and those of the project's environment, before those of the system. Files
# that run when packages are added, `*.pth`, run here: with the first cell, and not before.
import os

sys = driver.sys
seen = {"stamp": None, "files": set()}


def look():
    """Makes packages importable that have come since the last look."""
    folder = driver.cells.packages
    try:
        stamp = os.stat(folder).st_mtime_ns
    except OSError:
        return  # Nothing is installed yet.
    if stamp == seen["stamp"]:
        return
    seen["stamp"] = stamp
    import importlib

    importlib.invalidate_caches()
    if folder not in sys.path:
        sys.path.insert(place(), folder)
    run_files(folder)


def place():
    """Where the folder stands on the path: before the packages of the interpreter itself."""
    own = f"{sys.prefix}/" if sys.prefix != sys.base_prefix else None
    for index, path in enumerate(sys.path):
        of_environment = own is not None and path.startswith(own)
        if path.endswith(("/site-packages", "/dist-packages")) and not of_environment:
            return index
    return len(sys.path)


def run_files(folder):
    import site

    for name in sorted(os.listdir(folder)):
        if name.endswith(".pth") and not name.startswith(".") and name not in seen["files"]:
            seen["files"].add(name)
            before = list(sys.path)
            site.addpackage(folder, name, set(before))
            # What it adds belongs beside the folder, and not behind everything.
            added = [path for path in sys.path if path not in before]
            at = before.index(folder) + 1 if folder in before else len(before)
            sys.path[:] = before[:at] + added + before[at:]


class PackageNotInstalled(ImportError):
    """A cell asks for packages that are not installed."""

    __module__ = "builtins"


OPTIONS = "-q --quiet -U --upgrade --user --no-cache-dir -y --yes --break-system-packages".split()


def install(words):
    """What `%pip install` does: the packages are there, or the person is asked for them."""
    from importlib.metadata import PackageNotFoundError, version

    names = [word.strip("\"'") for word in words if word not in OPTIONS]
    bad = [name for name in names if name.startswith("-") or "/" in name or ":" in name]
    if bad or not names:
        what = f"`{bad[0]}` is not one" if bad else "none is named"
        raise ValueError(f"only packages by their names are installed here, and {what}")
    missing = []
    for name in names:
        plain = name
        for sign in "[=<>!~ ;":
            plain = plain.split(sign)[0]
        try:
            found = version(plain)
        except PackageNotFoundError:
            found = None
        if found is None or ("==" in name and name.split("==")[1] != found):
            missing.append(name)
        else:
            print(f"{plain} {found} is installed")
    if missing:
        raise PackageNotInstalled(f"python {' '.join(missing)}")
