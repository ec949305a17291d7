# Fetches finished builds of Python packages by their hashes, and unpacks them into a fresh folder.
#
# Started as `python -I -S -c … PLAN`, in the sandbox of an installer: without any packages, so that
# nothing of what it unpacks, or of what was installed before, ever runs here. A file that is
# fetched must have the hash of the plan, and be the package that it is said to be. Every file is
# hashed by the descriptor that it is then unpacked from, those that were here before too. Nothing is
# written outside of the folder, over a file of another package's own, or by the name of an
# interpreter, and nothing at all if it would not all fit.
import base64, compileall, configparser, csv, email.parser, hashlib, io, json, os, re, ssl, stat
import sys, urllib.parse, urllib.request, zipfile

BLOCK = 1 << 20
MOST_TEXT = 32 << 20
UNPACKED = "unpacked, the packages of this folder"
BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


class Refused(Exception):
    pass


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def version(text):
    text = text.strip().lower().lstrip("v").replace("_", "-")
    text = re.sub(r"[.-]?(alpha|beta|preview|pre|rc|a|b|c)[.-]?(?=\d|$)", r"\1", text)
    for word, short in (("alpha", "a"), ("beta", "b"), ("preview", "rc"), ("pre", "rc")):
        text = text.replace(word, short)
    text = re.sub(r"(?<=\d)c(?=\d)", "rc", text).replace("-", ".")
    return re.sub(r"\d+", lambda found: str(int(found.group())), text)


def opener():
    context = ssl.create_default_context()
    names = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
    files = [os.environ[name] for name in names if os.environ.get(name)]
    for file in files or [file for file in BUNDLES if os.path.isfile(file)][:1]:
        if os.path.isfile(file):
            context.load_verify_locations(cafile=file)
    return urllib.request.build_opener(urllib.request.HTTPSHandler(context=context))


def amount(count):
    for unit, word in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= unit:
            return f"{count / unit:.1f}{word}".replace(".0", "")
    return f"{count} bytes"


class Space:
    """The disk space that is left, for one use of it."""

    def __init__(self, plan, use):
        self.most_bytes, self.most_files = plan["room"]["bytes"], plan["room"]["files"]
        self.disk, self.use = plan["room"]["disk"], use
        self.bytes = self.files = 0

    def spend(self, one, count, files=0):
        self.bytes += count
        self.files += files
        self.check(one)

    def check(self, one):
        told = f"{one['name']} {one['version']} is too large: {self.use}"
        if self.files > self.most_files:
            raise Refused(
                f"{told} are {self.files} files, and `limits.staged_files` in your config file "
                f"allows {self.most_files}"
            )
        if self.bytes > self.most_bytes:
            most = f"`limits.staged` in your config file allows {amount(self.most_bytes)}"
            if self.disk:
                most = f"the disk has {amount(self.most_bytes)} to spare; free some space"
            raise Refused(f"{told} take {amount(self.bytes)}, and {most}")


def exact(one, path):
    """Opens the file of a package, if it is the one that was shown."""
    file = open(path, "rb")
    digest = hashlib.sha256()
    for block in iter(lambda: file.read(BLOCK), b""):
        digest.update(block)
    if f"sha256:{digest.hexdigest()}" != one["hash"]:
        file.close()
        told = f"{one['name']} {one['version']}"
        raise Refused(f"the file of {told} is not the one that was looked up")
    file.seek(0)
    return file


def add_up(packages, files, plan):
    """Sees that everything fits, before any of it is written."""
    space, sizes = Space(plan, UNPACKED), []
    for one, path in zip(packages, files):
        size = count = 0
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    size += member.file_size
                    count += 1
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
            pass  # It is refused by name when it is unpacked.
        sizes.append((size, count))
        space.bytes += size
        space.files += count
    largest = max(range(len(sizes)), key=sizes.__getitem__, default=None)
    if largest is not None:
        space.check(packages[largest])


def fetch(one, folder, patience, space):
    """The file of a package, with the hash that was shown."""
    if one.get("path"):
        return one["path"]
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, one["file"])
    digest = hashlib.sha256()
    try:
        with opener().open(one["url"], timeout=patience) as answer, open(path, "xb") as file:
            for block in iter(lambda: answer.read(BLOCK), b""):
                space.spend(one, len(block))
                digest.update(block)
                file.write(block)
    except OSError as error:
        raise Refused(f"{one['name']} {one['version']} cannot be fetched: {error}") from None
    if f"sha256:{digest.hexdigest()}" != one["hash"]:
        os.remove(path)
        told = f"{one['name']} {one['version']}"
        raise Refused(f"the index gave another file for {told} than the one that was looked up")
    return path


class Joined:
    """The beginning of a file that was read already, and the rest of it."""

    def __init__(self, head, rest):
        self.head, self.rest = head, rest

    def read(self, most):
        head, self.head = self.head, b""
        return head or self.rest.read(most)


class Wheel:
    """One package that is unpacked."""

    def __init__(self, one, plan, owners, space):
        self.one, self.plan, self.owners, self.space = one, plan, owners, space
        self.root, self.final = plan["root"], plan["final"]
        self.site = plan["site"]
        self.written = {}

    def refuse(self, why):
        raise Refused(f"{self.one['name']} {self.one['version']} is not a sound package: {why}")

    def unpack(self, path):
        try:
            with exact(self.one, path) as file, zipfile.ZipFile(file) as archive:
                info = self.check(archive)
                for member in archive.infolist():
                    if not member.is_dir():
                        self.put(archive, member)
                self.programs(archive, info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            self.refuse(f"its archive cannot be read ({error})")
        self.record(info)

    def check(self, archive):
        names = archive.namelist()
        if len(set(names)) != len(names):
            self.refuse("two of its files have the same name")
        tops = {name.split("/")[0] for name in names}
        infos = sorted(top for top in tops if top.lower().endswith(".dist-info"))
        if len(infos) != 1:
            self.refuse("it does not have exactly one description")
        info = infos[0]
        name, _, number = info[: -len(".dist-info")].partition("-")
        self.same(name, number, "folder")
        try:
            head = self.text(archive, f"{info}/METADATA")
            wheel = self.text(archive, f"{info}/WHEEL")
        except KeyError:
            self.refuse("its description is not whole")
        fields = email.parser.HeaderParser().parsestr(head)
        self.same(fields.get("Name") or "", fields.get("Version") or "", "description")
        form = email.parser.HeaderParser().parsestr(wheel).get("Wheel-Version") or ""
        if form.split(".")[0] != "1":
            self.refuse("its form is not known")
        return info

    def text(self, archive, name):
        if archive.getinfo(name).file_size > MOST_TEXT:
            self.refuse(f"its {name!r} is too large")
        return archive.read(name).decode("utf-8", "replace")

    def same(self, name, number, where):
        wanted = self.one
        if plain(name) != plain(wanted["name"]) or version(number) != version(wanted["version"]):
            self.refuse(f"its {where} says {name!r} {number!r}")

    def put(self, archive, member):
        name = member.filename
        parts = name.split("/")
        odd = any(part in ("", ".", "..") for part in parts) or "\\" in name or "\0" in name
        if odd or any(ord(sign) < 32 for sign in name):
            self.refuse(f"it has a file {name!r}")
        mode = member.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            self.refuse(f"{name!r} is not a plain file")
        if name.lower().endswith((".dist-info/record", ".dist-info/installer")) and len(parts) == 2:
            return  # Written anew.
        top = parts[0]
        with archive.open(member) as source:
            if top.lower().endswith(".data") and len(parts) > 2:
                self.put_data(top, parts[1], parts[2:], source, mode)
            else:
                self.write([self.site, *parts], source, mode & 0o111)

    def put_data(self, top, kind, rest, source, mode):
        if kind in ("purelib", "platlib"):
            if rest[0].lower().endswith((".dist-info", ".data")):
                self.refuse(f"it has a description in {top!r}")
            self.write([self.site, *rest], source, mode & 0o111)
        elif kind == "scripts":
            if len(rest) != 1:
                self.refuse("it has a folder of programs")
            head = source.read(2 + len("pythonw"))
            if not head.startswith(b"#!python"):
                return self.program(rest[0], Joined(head, source))
            text = head + source.read(MOST_TEXT)
            if source.read(1):
                self.refuse(f"its program {rest[0]!r} is too large")
            if re.match(rb"#!pythonw?\b", text):
                text = self.start().encode() + b"\n" + text.partition(b"\n")[2]
            self.program(rest[0], io.BytesIO(text))
        elif kind == "headers":
            self.write(["include", "site", plain(self.one["name"]), *rest], source, False)
        elif kind == "data":
            if rest[0] == "bin" and len(rest) == 2:
                self.program(rest[1], source)
            elif rest[0].lower() in ("bin", "lib", "lib64", "include", "python", "tmp") or len(rest) == 1:
                self.refuse(f"it would write {'/'.join(rest)!r} into the environment")
            else:
                self.write(rest, source, mode & 0o111)
        else:
            self.refuse(f"it has files of the unknown kind {kind!r}")

    def start(self):
        python = f"{self.final}/bin/python"
        if len(python) < 120 and " " not in python:
            return f"#!{python}"
        return f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''"

    def programs(self, archive, info):
        try:
            text = self.text(archive, f"{info}/entry_points.txt")
        except KeyError:
            return
        parser = configparser.RawConfigParser(delimiters=("=",), strict=False)
        parser.optionxform = str
        try:
            parser.read_string(text)
        except configparser.Error:
            self.refuse("its list of programs cannot be read")
        for section in ("console_scripts", "gui_scripts"):
            for name, target in parser.items(section) if parser.has_section(section) else ():
                found = re.fullmatch(r"([\w.]+)\s*:\s*([\w.]+)\s*(\[.*\])?", target.strip())
                if not found:
                    self.refuse(f"its program {name!r} is not understood")
                module, call = found.group(1), found.group(2)
                first = call.split(".")[0]
                body = (
                    f"{self.start()}\nimport sys\nfrom {module} import {first}\n\n"
                    f'if __name__ == "__main__":\n    sys.exit({call}())\n'
                )
                self.program(name, io.BytesIO(body.encode()))

    def program(self, name, source):
        if not re.fullmatch(r"[\w.+-]+", name) or re.fullmatch(r"(?i)pythonw?[\d.]*|\.+", name):
            self.refuse(f"its program cannot be called {name!r}")
        if os.path.join(self.root, "bin", name) in self.written:
            return
        self.write(["bin", name], source, True)

    def write(self, parts, source, runs):
        path = os.path.join(self.root, *"/".join(parts).split("/"))
        own = os.path.join(self.root, self.site) + "/"
        inside = path[len(own) :] if path.startswith(own) else None
        if inside is not None and inside.split("/")[0].lower().endswith(".dist-info"):
            name, _, number = inside.split("/")[0][: -len(".dist-info")].partition("-")
            self.same(name, number, "folder")
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            taken = self.owners.get(path)
            if taken is not None:
                # Some packages share a file, such as an empty one. Nothing else is shared.
                if inside is None or "/" not in inside and not inside.endswith(".py"):
                    self.refuse(f"it would write over {parts[-1]!r} of {taken}")
                os.remove(path)
            digest, size = hashlib.sha256(), 0
            self.space.spend(self.one, 0, 1)
            with open(path, "xb") as file:
                for block in iter(lambda: source.read(BLOCK), b""):
                    self.space.spend(self.one, len(block))
                    digest.update(block)
                    size += len(block)
                    file.write(block)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            self.refuse(f"{'/'.join(parts)!r} is in the way of another file")
        os.chmod(path, 0o755 if runs else 0o644)
        self.owners[path] = self.one["name"]
        told = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
        self.written[path] = (f"sha256={told}", size)

    def record(self, info):
        under = os.path.join(self.root, self.site)
        self.write([self.site, info, "INSTALLER"], io.BytesIO(b"interpreter\n"), False)
        rows = io.StringIO()
        lines = csv.writer(rows, lineterminator="\n")
        for path, (digest, size) in sorted(self.written.items()):
            lines.writerow([os.path.relpath(path, under), digest, size])
        lines.writerow([f"{info}/RECORD", "", ""])
        self.write([self.site, info, "RECORD"], io.BytesIO(rows.getvalue().encode()), False)


def compile_all(plan, owners):
    """Makes modules load quickly. Nothing of them runs."""
    under = os.path.join(plan["root"], plan["site"])
    shown = os.path.join(plan["final"], plan["site"])
    for path in sorted(owners):
        if path.startswith(under + "/") and path.endswith(".py"):
            folder = os.path.dirname(os.path.join(shown, os.path.relpath(path, under)))
            try:
                compileall.compile_file(path, ddir=folder, quiet=2, force=True)
            except Exception:
                pass  # It is compiled, or fails, when it is imported.


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    packages = plan["packages"]
    space = Space(plan, "the files to fetch")
    files = [fetch(one, plan["files"], plan["patience"], space) for one in packages]
    if plan["fetch_only"]:
        return
    add_up(packages, files, plan)
    owners, space = {}, Space(plan, UNPACKED)
    for one, path in zip(packages, files):
        Wheel(one, plan, owners, space).unpack(path)
    compile_all(plan, owners)


try:
    main()
except Refused as refused:
    print(f"ERROR: {refused}", file=sys.stderr)
    sys.exit(1)
