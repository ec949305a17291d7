"""The crates that are compiled into the program: their licences, and a bill of materials.

Usage: scripts/package/crates.py notices    prints the licences of all of them
       scripts/package/crates.py sbom       prints a CycloneDX 1.6 document (JSON)

Reads `cargo metadata`, so the lock file decides. Crates that only build or test something are not
part of the program, nor are those of other systems.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "interpreter-cli"
LICENCES = ("license", "licence", "copying", "notice", "unlicense", "copyright")


def metadata():
    target = subprocess.run(["rustc", "-vV"], cwd=ROOT, check=True, capture_output=True, text=True)
    host = next(line.split()[1] for line in target.stdout.splitlines() if line.startswith("host:"))
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(found.stdout)


def compiled_in(data):
    """The packages of the program, each with the packages that it uses, in the order of their names."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    packages = {package["id"]: package for package in data["packages"]}
    first = next(id for id, package in packages.items() if package["name"] == PROGRAM)
    used, open_ids = {}, [first]
    while open_ids:
        id = open_ids.pop()
        # A macro runs while the program is compiled, and stays out of it.
        if id in used or any("proc-macro" in target["kind"] for target in packages[id]["targets"]):
            continue
        is_ordinary = lambda kinds: any(kind["kind"] is None for kind in kinds)
        used[id] = [one["pkg"] for one in nodes[id]["deps"] if is_ordinary(one["dep_kinds"])]
        open_ids += used[id]
    key = lambda id: (packages[id]["name"], packages[id]["version"])
    return first, packages, {id: used[id] for id in sorted(used, key=key)}


def licence_files(package):
    folder = Path(package["manifest_path"]).parent
    named = [folder / package["license_file"]] if package["license_file"] else []
    # Some crates carry a library of another language in a folder.
    near = sorted(folder.glob("*")) + sorted(folder.glob("*/*"))
    files = [path for path in near if path.name.lower().startswith(LICENCES)]
    files = [path for path in files if path.suffix not in (".rs", ".py", ".c", ".h", ".cpp")]
    texts = [path for path in named + files if path.is_file()]
    return list(dict.fromkeys(path.resolve() for path in texts))


def notices():
    _, packages, used = compiled_in(metadata())
    print("The program contains the following third-party software.\n")
    texts = {}
    for package in (packages[id] for id in used):
        if package["source"] is None:
            continue
        name = f"{package['name']} {package['version']} ({package['license']})"
        where = package["repository"] or package["homepage"] or ""
        print(f"{name}  {where}".rstrip())
        for path in licence_files(package):
            text = path.read_text(errors="replace").strip()
            texts.setdefault(text, []).append(name)
    # The same text of many crates is printed once.
    for text, names in sorted(texts.items(), key=lambda one: one[1]):
        print("\n" + "=" * 100 + "\n" + "\n".join(names) + "\n\n" + text)


def checksums():
    """The SHA-256 of each package's archive, of the lock file."""
    found, name, version = {}, None, None
    for line in (ROOT / "Cargo.lock").read_text().splitlines():
        key, _, value = line.partition(" = ")
        if key == "name":
            name = value.strip('"')
        elif key == "version":
            version = value.strip('"')
        elif key == "checksum":
            found[name, version] = value.strip('"')
    return found


def component(package, sums):
    name, version = package["name"], package["version"]
    purl = f"pkg:cargo/{name}@{version}"
    licence = (package["license"] or "").replace("/", " OR ")
    found = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if package["description"]:
        found["description"] = " ".join(package["description"].split())
    if licence:
        found["licenses"] = [{"expression": licence}]
    if (name, version) in sums:
        found["hashes"] = [{"alg": "SHA-256", "content": sums[name, version]}]
    if package["repository"]:
        found["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return found


def sbom():
    data = metadata()
    first, packages, used = compiled_in(data)
    sums = checksums()
    components = {id: component(packages[id], sums) for id in used}
    main = {**components.pop(first), "type": "application", "name": "interpreter"}
    refs = {id: f"pkg:cargo/{packages[id]['name']}@{packages[id]['version']}" for id in used}
    lock = hashlib.sha256((ROOT / "Cargo.lock").read_bytes()).hexdigest()
    uuid = f"{lock[:8]}-{lock[8:12]}-5{lock[13:16]}-8{lock[17:20]}-{lock[20:32]}"
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # Of the lock file, so that the same crates give the same document.
        "serialNumber": f"urn:uuid:{uuid}",
        "version": 1,
        "metadata": {"component": main},
        "components": list(components.values()),
        "dependencies": [
            {"ref": refs[id], "dependsOn": sorted({refs[other] for other in others if other in refs})}
            for id, others in used.items()
        ],
    }
    json.dump(document, sys.stdout, indent=2, sort_keys=True)
    print()


if __name__ == "__main__":
    commands = {"notices": notices, "sbom": sbom}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        raise SystemExit(__doc__)
    try:
        commands[sys.argv[1]]()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
