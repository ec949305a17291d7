# Part of the Python kernel's driver: code that was called by words.
#
# The words are its name, the path of its file, which is empty without one, and its arguments, each
# ended by a NUL. Code without a file is a cell with arguments. Code with one is a script: it runs as
# `python3 FILE ARGUMENTS` would run it, and the interpreter ends with it. It is compiled as it came
# and not read again, because the file may have changed since somebody looked at it.
sys = driver.sys
path = ""


def take(called):
    """Whether it is a script."""
    global path
    name, path, *arguments = called.decode("utf-8", "surrogateescape").split("\0")[:-1]
    sys.argv = [name, *arguments]
    return path != ""


def run(source):
    """Runs the script; the answer is the status of the interpreter."""
    from os.path import dirname, realpath

    module = driver.cells.module
    module.__file__, module.__cached__ = path, None
    # Its folder comes first among those that it imports from, and not the one that it was called in.
    sys.path.remove("")
    sys.path.insert(0, dirname(realpath(path)))
    sys.displayhook = nothing
    return driver.cells.run(path, source)


def nothing(value):
    """A script shows no value by itself."""
