# Part of the Python kernel's driver: what is shown of an error.
#
# Shows the cell's own lines and nothing of the driver. Must not fail, whatever the code did to
# the modules that show errors: then there is less to read, but the error is told.
sys = driver.sys  # Not imported: the code may have emptied `sys.modules`.


def report(error, name):
    kind, frames = type(error), without_driver(error.__traceback__, name)
    error.__traceback__ = frames
    sys.last_type, sys.last_value, sys.last_traceback, sys.last_exc = kind, error, frames, error
    try:
        message = str(error)
    except Exception:
        message = ""
    try:
        from traceback import format_exception

        keep_sources()
        if kind is SyntaxError and error.filename == name and error.text is None:
            error.text = driver.modules["linecache"].cache[name][2][error.lineno - 1]
        if sys.excepthook is sys.__excepthook__:
            sys.stderr.write("".join(format_exception(kind, error, frames)))
        else:
            sys.excepthook(kind, error, frames)
    except Exception:
        # The code broke what shows errors.
        driver.complain("".join([*places(frames), f"{kind.__name__}: {message}"]))
    tell_refused(error)
    fields = f'"name":{driver.quote(kind.__name__)},"message":{driver.quote(message)}'
    driver.control.claim("raised", fields)


def tell_refused(error):
    """Says which paths the system refused, by its own number for why and not by any words."""
    try:
        from errno import errorcode
        from os import fspath, fsdecode, path

        for _ in range(8):
            if isinstance(error, OSError) and error.errno in errorcode:
                for name in (error.filename, error.filename2):
                    if isinstance(name, (str, bytes)):
                        whole = driver.quote(path.abspath(fsdecode(fspath(name))))
                        code = driver.quote(errorcode[error.errno])
                        driver.control.claim("refused", f'"code":{code},"path":{whole}')
            error = error.__cause__ or error.__context__
            if error is None:
                break
    except BaseException:
        pass  # The code broke what this needs: then nothing more is told.


def places(frames):
    while frames is not None:
        code = frames.tb_frame.f_code
        yield f'  File "{code.co_filename}", line {frames.tb_lineno}, in {code.co_name}\n'
        frames = frames.tb_next


def without_driver(traceback, name):
    """The frames from the cell's own on, without those of the driver between them."""
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    files = [frame.tb_frame.f_code.co_filename for frame in frames]
    kept = None
    for frame in reversed(frames[files.index(name) if name in files else 0 :]):
        # Every part of the driver knows it by this name.
        if frame.tb_frame.f_globals.get("driver") is not driver:
            kept = type(frame)(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept


def keep_sources():
    """Gives the sources of cells to `linecache`, where tracebacks and `inspect` look for them."""
    sources = driver.cells.sources
    try:
        cache = driver.modules["linecache"].cache
        for name, source in sources.items():
            text = text_of(source)
            cache[name] = (len(text), None, [f"{line}\n" for line in text.split("\n")], name)
        sources.clear()
    except Exception:
        pass  # The code put something else in its place, or wants no sources.


def text_of(source):
    try:
        return decode(source)
    except Exception:
        return source.decode("utf-8", "replace")  # `compile` says what is wrong with it.


def decode(source):
    text = source.decode("utf-8").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")
