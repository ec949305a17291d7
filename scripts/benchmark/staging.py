"""What staging costs: write-heavy builds in the staged folder and in the bare one, and the start in a folder with many files.

    python3 scripts/benchmark/staging.py [--program target/release/interpreter] [--rounds 5] [--folder FOLDER]

- *unpack*: a tar archive of 20,000 files of 2 KB in 200 folders is unpacked.
- *build*: 40 C files of some size are compiled and linked, if there is a compiler.
- *rewrite*: 2,000 files that are there already are read, changed and written back: each is copied up first.
- *start*: the whole command `run -l shell -c true` in a folder with 100 files and in one with 100,000.

Each side runs the same code in the same sandbox, one with `--workspace stage`, one with `--workspace direct`, in turn, each time in a
fresh folder. *inside* is what the code itself measured; *whole* is the whole command: sandbox, the code, and at its end the list of
what changed and its record. Every figure is a median.
"""
import argparse
import io
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

CLOCKED = "import time\nbegan = time.perf_counter()\n{}\nprint(time.perf_counter() - began)"
UNPACK = "import subprocess\nsubprocess.run(['tar', 'xf', 'all.tar'], check=True)"
BUILD = """
import subprocess
names = [f'f{n}' for n in range(40)]
for name in names:
    subprocess.run(['cc', '-O1', '-g', '-c', name + '.c', '-o', name + '.o'], check=True)
subprocess.run(['cc', '-o', 'program', 'main.c', *[name + '.o' for name in names]], check=True)
"""
REWRITE = """
import os
for name in os.listdir('many'):
    with open('many/' + name, 'r+') as file:
        text = file.read()
        file.seek(0)
        file.write(text.upper())
"""


def archive(work):
    with tarfile.open(os.path.join(work, "all.tar"), "w") as tar:
        for number in range(20_000):
            info = tarfile.TarInfo(f"tree/{number % 200}/file{number}.txt")
            content = f"line {number}\n".encode() * 180
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def sources(work):
    for number in range(40):
        lines = [f"int f{number}_{n}(int x) {{ for (int i = 0; i < x; i++) x ^= i * {n}; return x; }}" for n in range(300)]
        write(work, f"f{number}.c", "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + "\n".join(lines) + "\n")
    write(work, "main.c", "int main(void) { return 0; }\n")


def many(work):
    os.mkdir(os.path.join(work, "many"))
    for number in range(2_000):
        write(work, f"many/{number}.txt", f"line {number}\n" * 200)


def write(work, name, text):
    with open(os.path.join(work, name), "w") as file:
        file.write(text)


def run(program, mode, fill, language, code, place):
    """Seconds that the code says it took, if it does, and seconds of the whole command."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        work = os.path.join(folder, "work")
        os.mkdir(work)
        fill(work)
        os.sync()
        environment = {**os.environ, "INTERPRETER_HOME": os.path.join(folder, "home")}
        command = [program, "run", "--workspace", mode, "-l", language, "-c", code]
        began = time.perf_counter()
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
        whole = time.perf_counter() - began
        if done.returncode:
            sys.exit(f"{' '.join(command)[:100]} ended with {done.returncode}: {done.stderr[-500:]}")
        return (float(done.stdout.split()[-1]) if done.stdout.split() else None), whole


def compared(program, name, fill, code, rounds, place):
    sides = {"stage": [], "direct": []}
    for _ in range(rounds):
        for mode, taken in sides.items():
            taken.append(run(program, mode, fill, "python", CLOCKED.format(code), place))
    for at, kind in enumerate(("inside", "whole")):
        staged, bare = (statistics.median(taken[at] for taken in sides[mode]) for mode in ("stage", "direct"))
        print(f"| {name}, {kind} | {staged:.3f} s | {bare:.3f} s | {100 * (staged / bare - 1):+.0f} % |", flush=True)


def starts(program, rounds, place):
    for count in (100, 100_000):
        with tempfile.TemporaryDirectory(dir=place) as folder:
            work = os.path.join(folder, "work")
            for number in range(count):
                parent = os.path.join(work, str(number % 500))
                os.makedirs(parent, exist_ok=True)
                open(os.path.join(parent, str(number)), "w").close()
            environment = {**os.environ, "INTERPRETER_HOME": os.path.join(folder, "home")}
            taken = []
            for _ in range(2 * rounds + 1):
                began = time.perf_counter()
                subprocess.run([program, "run", "-l", "shell", "-c", "true"], cwd=work, env=environment, check=True)
                taken.append(time.perf_counter() - began)
            print(f"| start, {count:,} files | {statistics.median(taken[1:]) * 1000:.1f} ms | | |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(ROOT, "target", "release", "interpreter"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where the work folders are made: the file system that is measured")
    given = parser.parse_args()
    print("| | staged | bare folder | cost |\n|---|--:|--:|--:|")
    compared(given.program, "unpack 20,000 files", archive, UNPACK, given.rounds, given.folder)
    if shutil.which("cc"):
        compared(given.program, "build 40 C files", sources, BUILD, given.rounds, given.folder)
    compared(given.program, "rewrite 2,000 files", many, REWRITE, given.rounds, given.folder)
    starts(given.program, given.rounds, given.folder)


if __name__ == "__main__":
    main()
