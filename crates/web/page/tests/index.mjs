// A package index on loopback with one package that requires another, for the card about packages.

import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAKE = `
import sys, zipfile
path, name, needs = sys.argv[1:]
info = f"{name}-1.0.dist-info/"
with zipfile.ZipFile(path, "w") as made:
    made.writestr(f"{name}.py", "")
    made.writestr(info + "METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n" + (f"Requires-Dist: {needs}\\n" if needs else ""))
    made.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    made.writestr(info + "RECORD", "")
`;

/** Serves `name`, which requires `needs`, and has pip of this home ask it. */
export async function packageIndex(home, name, needs) {
  const folder = await mkdtemp(join(tmpdir(), "index-"));
  const pages = new Map();
  for (const [one, of] of [[name, needs], [needs, ""]]) {
    const file = `${one}-1.0-py3-none-any.whl`;
    execFileSync("/usr/bin/python3", ["-I", "-c", MAKE, join(folder, file), one, of]);
    pages.set(`/simple/${one.replaceAll("_", "-")}/`, `<a href="/files/${file}">${file}</a>`);
    pages.set(`/files/${file}`, await readFile(join(folder, file)));
  }
  const server = createServer((request, answer) => {
    const page = pages.get(request.url);
    answer.writeHead(page === undefined ? 404 : 200, { "content-type": typeof page === "string" ? "text/html" : "application/octet-stream" });
    answer.end(page);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  await mkdir(join(home, ".config/pip"), { recursive: true });
  await writeFile(join(home, ".config/pip/pip.conf"), `[global]\nindex-url = http://127.0.0.1:${server.address().port}/simple\n`);
  await rm(folder, { recursive: true });
  return server;
}
