# Part of the Python kernel's driver: values in every form they have.
#
# A form is a kind of media and its text; pictures and documents are base64. Plain text is
# always among them. A form that cannot be had, or is too large, is said to be missing and
# keeps nothing else from being shown.
LARGEST = 8 << 20  # Bytes of one picture or document.
ROOM = 15 << 20  # Bytes of all forms in a claim; the longest claim has little more.

FORMS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "text/latex": "_repr_latex_",
    "application/json": "_repr_json_",
    "application/pdf": "_repr_pdf_",
    "application/javascript": "_repr_javascript_",
}
PLOTLY = "application/vnd.plotly.v1+json"
VEGALITE = "application/vnd.vegalite.v5+json"
BINARY = ("image/png", "image/jpeg", "application/pdf")

last_figure = None  # The figure that the last expression of this cell has shown.


def display(*objects, display_id=None, raw=False):
    if display_id is True:
        from os import urandom

        display_id = urandom(8).hex()
    for value in objects:
        show(value, display_id, raw)
    return None if display_id is None else Display(display_id)


class Display:
    """What was shown, and can be replaced."""

    def __init__(self, display_id):
        self.display_id = display_id

    def update(self, object, raw=False):
        show(object, self.display_id, raw)

    display = update


def show(value, display_id=None, raw=False):
    claim(dict(value) if raw else {"text/plain": repr(value), **forms_of(value)}, display_id)


def show_last(value):
    """The value of a cell's last expression."""
    global last_figure
    show(value)
    last_figure = value if is_figure(value) else None


def forms_of(value):
    """Every form that a value has."""
    kind, forms = type(value), {}
    if is_figure(value):
        add(forms, "image/png", value, "savefig", picture)
    elif hasattr(kind, "to_plotly_json") and hasattr(kind, "to_html"):
        # Its own bundle depends on settings and on packages that may be missing.
        add(forms, PLOTLY, value, "to_json", lambda make: make())
        add(forms, "text/html", value, "to_html", page)
    elif hasattr(kind, "_repr_mimebundle_"):
        bundle = {}
        add(bundle, "", value, "_repr_mimebundle_", every_form)
        forms.update(bundle.get("") or {})
        if kind.__module__.startswith("altair.") and VEGALITE not in forms:
            # By default its bundle is a page whose script draws, and nowhere does one run.
            add(forms, VEGALITE, value, "to_json", lambda make: make())
    for form, method in FORMS.items():
        # A picture is not needed twice.
        needed = form != "image/jpeg" or "image/png" not in forms
        if form not in forms and needed and callable(getattr(kind, method, None)):
            add(forms, form, value, method, lambda make: make())
    return forms


def add(forms, form, value, method, call):
    try:
        made = call(getattr(value, method))
        if isinstance(made, tuple):
            made = made[0]  # The rest says how to show it.
        if made is not None:
            forms[form] = made
    except NotImplementedError:
        pass  # How a value says that it has no such form.
    except Exception as error:
        driver.flush()
        driver.complain(f"{method} of {type(value).__name__}: {type(error).__name__}: {error}")


def every_form(make):
    try:
        return make(include=None, exclude=None)
    except TypeError as error:
        if error.__traceback__.tb_next is not None:
            raise  # Of its own; else it takes no such arguments.
    return make()


def page(make):
    return make(include_plotlyjs="cdn", full_html=False)


def picture(save):
    from io import BytesIO

    file = BytesIO()
    save(file, format="png", bbox_inches="tight")
    return file.getvalue()


def claim(forms, display_id):
    """Claims forms as far as there is room; the plain text says what is missing."""
    plain, fields, missing = driver.quote(str(forms.pop("text/plain", ""))), [], ""
    room = ROOM - len(plain.encode("utf-8"))
    for form, made in forms.items():
        try:
            most = LARGEST if form in BINARY else driver.LONGEST
            text = text_of(form, made, most)
        except Exception as error:
            driver.complain(f"{form}: {type(error).__name__}: {error}")
            continue
        quoted = "" if text is None else driver.quote(text, len(text))
        size = len(quoted.encode("utf-8"))
        if quoted and size <= room:
            room -= size
            fields.append(f"{driver.quote(form)}:{quoted}")
        else:
            missing += f"\n({form} is left out: it is too large)"
    plain = plain[:-1] + driver.quote(missing)[1:]
    display = "null" if display_id is None else driver.quote(str(display_id))
    driver.flush()
    fields = ",".join([f'"text/plain":{plain}', *fields])
    driver.control.claim("result", f'"bundle":{{{fields}}},"display":{display}')


def text_of(form, made, most):
    """A form as it is claimed; nothing if it is too large."""
    if isinstance(made, (bytes, bytearray, memoryview)):
        made = bytes(made)
        if len(made) > most:
            return None
        if form in BINARY:
            from binascii import b2a_base64

            return b2a_base64(made, newline=False).decode("ascii")
        made = made.decode("utf-8", "replace")
    elif form.endswith("json") and not isinstance(made, str):
        from json import dumps

        made = dumps(made, default=str)
    elif isinstance(made, list):
        made = "".join(made)
    if not isinstance(made, str):
        raise TypeError(f"text is needed, not {type(made).__name__}")
    # What is text already of a picture is base64.
    return made if len(made) <= (most * 4 // 3 + 4 if form in BINARY else most) else None


def is_figure(value):
    module = driver.modules.get("matplotlib.figure")
    return isinstance(value, getattr(module, "Figure", ()))


def show_figures():
    """Shows the open figures of matplotlib, which the code has imported, and closes them."""
    global last_figure
    shown, last_figure = last_figure, None
    try:
        pyplot = driver.modules["matplotlib.pyplot"]
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            try:
                if figure is not shown:
                    show(figure)
            finally:
                pyplot.close(figure)
    except Exception as error:
        driver.complain(f"cannot show figures: {type(error).__name__}: {error}")


def write_all(descriptor, line):
    """Writes a claim that is too long to be written at once. No signal may end it in the middle:
    the next claim would be lost with it."""
    from _signal import SIG_SETMASK, pthread_sigmask, valid_signals

    mask = pthread_sigmask(SIG_SETMASK, valid_signals())
    try:
        line = memoryview(line)
        while line:
            line = line[driver.write(descriptor, line) :]
    finally:
        pthread_sigmask(SIG_SETMASK, mask)
