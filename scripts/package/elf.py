"""What a program needs of the system that it runs on: shared libraries and the version of glibc.

Reads a 64-bit little-endian ELF file by itself, so that packages can be made without further tools.

Usage: scripts/package/elf.py glibc|machine|libraries FILE
"""

import struct
import sys

MACHINES = {62: "x86_64", 183: "aarch64"}

# What PEP 600 lets a manylinux wheel use of the system, as far as Rust programs do.
SYSTEM_LIBRARIES = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1",
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}

DYNAMIC, VERNEED = 6, 0x6FFFFFFE
NEEDED = 1


class Program:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise SystemExit(f"{path} is no 64-bit little-endian ELF file")
        (machine,) = struct.unpack_from("<H", self.bytes, 18)
        if machine not in MACHINES:
            raise SystemExit(f"{path} is for a machine that is not supported")
        self.machine = MACHINES[machine]
        (start,) = struct.unpack_from("<Q", self.bytes, 40)
        size, count = struct.unpack_from("<HH", self.bytes, 58)
        self.sections = [
            struct.unpack_from("<IIQQQQIIQQ", self.bytes, start + at * size) for at in range(count)
        ]

    def _strings(self, section):
        """A function from an offset to the text there, in the table that a section links to."""
        offset = self.sections[section[6]][4]

        def text(at):
            end = self.bytes.index(b"\0", offset + at)
            return self.bytes[offset + at:end].decode()

        return text

    def libraries(self):
        found = []
        for section in (one for one in self.sections if one[1] == DYNAMIC):
            text = self._strings(section)
            for at in range(section[4], section[4] + section[5], 16):
                tag, value = struct.unpack_from("<QQ", self.bytes, at)
                if tag == NEEDED:
                    found.append(text(value))
        return found

    def glibc(self):
        """The newest version of glibc that a symbol asks for, as a pair of numbers."""
        newest = (2, 17)
        for section in (one for one in self.sections if one[1] == VERNEED):
            text, at = self._strings(section), section[4]
            while True:
                _, count, _, first, following = struct.unpack_from("<HHIII", self.bytes, at)
                inner = at + first
                for _ in range(count):
                    _, _, _, name, step = struct.unpack_from("<IHHII", self.bytes, inner)
                    family, _, version = text(name).partition("_")
                    if family == "GLIBC" and version[:1].isdigit():
                        newest = max(newest, tuple(int(part) for part in version.split(".")[:2]))
                    inner += step
                if following == 0:
                    break
                at += following
        return newest


def main(what, path):
    program = Program(path)
    if what == "glibc":
        print(".".join(str(part) for part in program.glibc()))
    elif what == "machine":
        print(program.machine)
    elif what == "libraries":
        print("\n".join(program.libraries()))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
