"""Writes a wheel (PEP 427) of the files of an installation. Started by `scripts/package/wheel`.

The program is in the wheel's scripts, which an installer puts beside the environment's Python; the
rest goes below its prefix. The same files give the same bytes.
"""

import base64
import hashlib
import sys
import time
import zipfile
from pathlib import Path

import elf

ROOT = Path(__file__).resolve().parents[2]
NAME = "open_interpreter"


def tag(program):
    """The oldest system that the program runs on (PEP 600)."""
    beyond = sorted(set(program.libraries()) - elf.SYSTEM_LIBRARIES)
    if beyond:
        raise SystemExit(f"the program needs libraries that a wheel cannot expect: {beyond}")
    major, minor = program.glibc()
    return f"manylinux_{major}_{minor}_{program.machine}"


def about(version):
    readme = (ROOT / "README.md").read_text()
    head = [
        "Metadata-Version: 2.4",
        "Name: open-interpreter",
        f"Version: {version}",
        "Summary: Run model-written code on your computer: sandboxed, and only with your approval",
        "License-Expression: MIT OR Apache-2.0",
        "License-File: LICENSE-MIT",
        "License-File: LICENSE-APACHE",
        "License-File: THIRD-PARTY-LICENSES",
        "Project-URL: Source, https://github.com/openinterpreter/open-interpreter",
        "Classifier: Environment :: Console",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: Rust",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + readme


def main(files, version, seconds, output):
    files = Path(files)
    platform = tag(elf.Program(files / "bin/interpreter"))
    data, info = f"{NAME}-{version}.data", f"{NAME}-{version}.dist-info"
    members = []
    for path in sorted(path for path in files.rglob("*") if path.is_file()):
        inside = path.relative_to(files).as_posix()
        if inside == "bin/interpreter":
            members.append((f"{data}/scripts/interpreter", path.read_bytes(), 0o755))
        elif inside.startswith("share/doc/"):
            members.append((f"{info}/licenses/{path.name}", path.read_bytes(), 0o644))
        else:
            members.append((f"{data}/data/{inside}", path.read_bytes(), 0o644))
    wheel = f"Wheel-Version: 1.0\nGenerator: interpreter\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"
    members.append((f"{info}/METADATA", about(version).encode(), 0o644))
    members.append((f"{info}/WHEEL", wheel.encode(), 0o644))
    rows = []
    for name, content, _ in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}")
    rows.append(f"{info}/RECORD,,")
    members.append((f"{info}/RECORD", ("\n".join(rows) + "\n").encode(), 0o644))

    # The format of zip files begins in 1980.
    moment = time.gmtime(max(int(seconds), 315532800))[:6]
    path = Path(output) / f"{NAME}-{version}-py3-none-{platform}.whl"
    new = path.with_suffix(".new")
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in members:
            member = zipfile.ZipInfo(name, moment)
            member.external_attr = (0o100000 | mode) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    new.replace(path)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
