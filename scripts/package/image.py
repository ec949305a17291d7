"""Writes an image as `docker save` would: two layers, the system and the program. Started by
`scripts/package/image`.

The same files give the same bytes.
"""

import hashlib
import io
import json
import sys
import tarfile
import time
from pathlib import Path

import elf

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

# Any user may be the one that runs it (`--user`), so both folders are like /tmp.
FOLDERS = {"home/interpreter": 0o1777, "work": 0o1777}

BLOCK = 1 << 20


def entry(name, seconds, mode, kind=tarfile.REGTYPE, size=0):
    info = tarfile.TarInfo(name)
    info.mtime, info.mode, info.type, info.size = seconds, mode, kind, size
    return info


def program_layer(files, seconds):
    """The files of an installation below /usr, and the folders of whoever runs it."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, mode in FOLDERS.items():
            archive.addfile(entry(name, seconds, mode, tarfile.DIRTYPE))
        for path in sorted(files.rglob("*")):
            name = "usr/" + path.relative_to(files).as_posix()
            if path.is_dir():
                archive.addfile(entry(name, seconds, 0o755, tarfile.DIRTYPE))
                continue
            content = path.read_bytes()
            mode = 0o755 if name.startswith("usr/bin/") else 0o644
            archive.addfile(entry(name, seconds, mode, size=len(content)), io.BytesIO(content))
    return layer.getvalue()


def digest_of_file(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def main(rootfs, files, version, seconds, output):
    rootfs, files, seconds = Path(rootfs), Path(files), int(seconds)
    machine = elf.Program(files / "bin/interpreter").machine
    layer = program_layer(files, seconds)
    digests = [digest_of_file(rootfs), hashlib.sha256(layer).hexdigest()]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    config = {
        "architecture": ARCHITECTURES[machine],
        "os": "linux",
        "created": created,
        "config": {
            "Entrypoint": ["/usr/bin/interpreter"],
            "WorkingDir": "/work",
            # Staged changes cannot be on an overlay, which the root of a container usually is.
            "Volumes": {"/home/interpreter": {}, "/work": {}},
            "User": "1000:1000",
            "Env": [
                "PATH=/usr/local/bin:/usr/bin:/bin",
                "HOME=/home/interpreter",
                "LANG=C.UTF-8",
            ],
            "Labels": {
                "org.opencontainers.image.title": "Open Interpreter",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{one}" for one in digests]},
        "history": [
            {"created": created, "created_by": "scripts/make-image"},
            {"created": created, "created_by": "scripts/package/image"},
        ],
    }
    config = json.dumps(config, sort_keys=True).encode()
    name = hashlib.sha256(config).hexdigest() + ".json"
    layers = [f"{one}/layer.tar" for one in digests]
    manifest = [
        {"Config": name, "RepoTags": [f"open-interpreter:{version}"], "Layers": layers}
    ]
    path = Path(output) / f"open-interpreter-{version}-{ARCHITECTURES[machine]}-image.tar"
    new = path.with_suffix(".new")
    with tarfile.open(new, "w", format=tarfile.PAX_FORMAT) as archive:
        with open(rootfs, "rb") as file:
            size = rootfs.stat().st_size
            archive.addfile(entry(layers[0], seconds, 0o644, size=size), file)
        for member, content in [
            (layers[1], layer),
            (name, config),
            ("manifest.json", json.dumps(manifest).encode()),
        ]:
            archive.addfile(entry(member, seconds, 0o644, size=len(content)), io.BytesIO(content))
    new.replace(path)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
