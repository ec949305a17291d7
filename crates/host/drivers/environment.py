# Part of the Python kernel's driver: enters a virtual environment.
#
# The interpreter was started without any packages, because what an environment holds runs code
# when it is entered, and code runs only when somebody has said yes. That is so with the first
# cell: from here on all is as if the environment's own program had been started.

sys = driver.sys


def enter():
    folder, driver.cells.environment = driver.cells.environment, ""
    import site  # Before the prefixes change: it keeps those of the interpreter itself.

    sys.executable = f"{folder}/bin/python3"
    sys.prefix = sys.exec_prefix = folder
    # It would make the folder that stands for "wherever we are" the one where we are now.
    at = sys.path.index("")
    sys.path.pop(at)
    try:
        site.main()
    finally:
        sys.path.insert(at, "")
