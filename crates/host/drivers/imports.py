# Part of the Python kernel's driver: modules that behave as in a notebook once imported.
#
# Imports none of them: it changes them when the code does, and leaves no trace in how they were
# found. A module that has changed since this was written behaves as it does elsewhere.


def find(watch, name, path, target):
    for finder in driver.sys.meta_path:
        spec = None if finder is watch else finder.find_spec(name, path, target)
        if spec is not None:
            if hasattr(spec.loader, "exec_module"):
                spec.loader = Loader(spec.loader, CHANGES[name])
            return spec
    return None


class Loader:
    def __init__(self, loader, change):
        self.loader, self.change = loader, change

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        try:
            self.change(module)
        except Exception:
            driver.complain(f"{module.__name__} is not as expected; it works as outside a notebook")


def change_linecache(module):
    driver.load("errors").keep_sources()


def change_getpass(module):
    module.getpass = driver.load("questions").getpass


def change_pandas(module):
    # As wide as the window, which `COLUMNS` tells; otherwise 80 columns, however many there are.
    module.set_option("display.width", None)


def change_matplotlib(module):
    # Settings may name code that every figure calls. Those of a file in the work folder, or in the
    # home inside, hold nothing that anybody approved, so figures begin with the usual ones.
    if not hasattr(module, "rcParamsDefault"):
        return
    usual = {k: value for k, value in dict.items(module.rcParamsDefault) if k != "backend"}
    for settings in (module.rcParams, module.rcParamsOrig):
        dict.update(settings, usual)
    if "://" in str(dict.get(module.rcParams, "backend")):
        dict.__setitem__(module.rcParams, "backend", "agg")


def change_pyplot(module):
    def show(*options, **more):
        """Shows all open figures, and closes them."""
        driver.load("rich").show_figures()

    module.show = show


def change_plotly(module):
    def show(self, *options, **more):
        """Shows the figure."""
        driver.load("rich").show(self)

    module.BaseFigure.show = show


def change_pillow(module):
    class Viewer(module.Viewer):
        def show(self, image, **options):
            driver.load("rich").show(image)
            return True

    module.register(Viewer(), 0)


CHANGES = {
    "linecache": change_linecache,
    "getpass": change_getpass,
    "pandas": change_pandas,
    "matplotlib": change_matplotlib,
    "matplotlib.pyplot": change_pyplot,
    "plotly.basedatatypes": change_plotly,
    "PIL.ImageShow": change_pillow,
}
