// Builds the unit tests for Node and runs them with its own test runner.

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const into = await mkdtemp(join(tmpdir(), "page-units-"));
try {
  const names = (await readdir(join(here, "unit"))).filter((name) => name.endsWith(".test.ts")).sort();
  await build({
    entryPoints: names.map((name) => join(here, "unit", name)),
    outdir: into,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    logLevel: "warning",
  });
  const files = names.map((name) => join(into, name.replace(/\.ts$/, ".mjs")));
  const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  await rm(into, { recursive: true, force: true });
}
