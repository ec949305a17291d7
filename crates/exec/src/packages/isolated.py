# Starts pip without any packages but pip itself, as `python -I -S -c … FOLDER WORDS`.
#
# With `closed` as the second word it can start no program, so nothing of a package runs while the
# index is asked: neither the build of a source nor a program that fetches from a repository.
import runpy
import sys

STARTS = {
    "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "pty.spawn",
    "subprocess.Popen",
}


def refuse(event, arguments):
    if event in STARTS:
        raise PermissionError("no program is started while packages are looked up")


sys.path.append(sys.argv.pop(1))
if sys.argv.pop(1) == "closed":
    sys.addaudithook(refuse)
runpy.run_module("pip", run_name="__main__", alter_sys=True)
