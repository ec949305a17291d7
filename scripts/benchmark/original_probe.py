"""Runs inside the environment of the original, and prints its figures: `FIGURES` and JSON, name of the row, unit, samples.

    original_probe.py '{"rounds": 3, "lines": [200000], "sizes": [[32000, "http://…/v1"]]}'

*Cold* is import and first result, as its own command would have it. A warm cell is one call of `computer.run`. *Lines* are printed by
`seq` in its shell; all messages are consumed, as its terminal does. *Streamed* is the processor time of this process alone, for one turn through its
own client for models, without display: its kernel, which runs the code, is not counted.
"""
import json
import os
import resource
import sys
import time

began = time.perf_counter()
from interpreter import interpreter  # noqa: E402

imported = time.perf_counter() - began

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from benchmark.clock import highest, resident_family  # noqa: E402
from benchmark.streamed import title  # noqa: E402

CELLS = {"python": ("print(1)", "1"), "shell": ("echo hi", "hi"), "javascript": ("console.log(1)", "1")}


def printed(messages):
    return "".join(str(one.get("content", "")) for one in messages if one.get("format") == "output")


def once(language):
    """Seconds of one cell, which must print what it should."""
    code, wanted = CELLS[language]
    began = time.perf_counter()
    said = interpreter.computer.run(language, code)
    taken = time.perf_counter() - began
    if printed(said).split()[-1:] != [wanted]:  # Its JavaScript prints the prompts of Node too.
        raise SystemExit(f"its {language} printed {printed(said)[:200]!r}: {said}")
    return taken


def lines(count):
    """Seconds until the last message of a long output has come."""
    began = time.perf_counter()
    came = sum(len(printed([one]).split()) for one in interpreter.computer.run("shell", f"seq {count}", stream=True))
    taken = time.perf_counter() - began
    if came != count:
        raise SystemExit(f"{came} of {count} lines came")
    return taken


def streamed(url, size):
    """Seconds of processor time of a turn whose code comes token by token."""
    interpreter.llm.api_base, interpreter.messages = url, []
    before = processor()
    for _ in interpreter.chat("go", display=False, stream=True):
        pass
    taken = processor() - before
    if f"ran {size}" not in printed(interpreter.messages):
        raise SystemExit(f"{size} streamed characters did not run: {str(interpreter.messages)[-300:]}")
    return taken


def processor():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    plan = json.loads(sys.argv[1])
    interpreter.offline = interpreter.disable_telemetry = interpreter.auto_run = True
    interpreter.llm.model, interpreter.llm.api_key, interpreter.llm.supports_functions = "openai/bench", "none", True
    interpreter.llm.supports_vision, interpreter.llm.context_window, interpreter.llm.max_tokens = False, 10_000_000, 4_000
    rows = [("import of the original", "s", [imported])]
    first = once("python")
    rows.append(("cold, python", "s", [imported + first]))
    rows.append(("idle after a Python cell, kernel included", "bytes", [resident_family(os.getpid())]))
    for language in CELLS:
        once(language)
        taken = [once(language) for _ in range(plan["rounds"])]
        rows += [(f"warm cell, {language}", "s", taken), (f"whole cycle, {language}", "s", taken)]
    for count in plan["lines"]:
        rows.append((f"{count:,} lines", "s", [lines(count) for _ in range(plan["rounds"])]))
        rows.append((f"{count:,} lines, peak resident", "bytes", [highest(os.getpid())]))
    for size, url in plan["sizes"]:
        rows.append((title(size, "tool"), "s", [streamed(url, size)]))
    print("\nFIGURES", json.dumps(rows), flush=True)


if __name__ == "__main__":
    status = 1
    try:
        main()
        status = 0
    except BaseException as failure:
        print(f"{type(failure).__name__}: {failure}", file=sys.stderr, flush=True)
    # Its threads and kernels would keep it from ending.
    interpreter.computer.terminate()
    os._exit(status)
