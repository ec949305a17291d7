// Builds the page into `dist`. The same sources give the same bytes: `node build.mjs --into FOLDER`
// builds elsewhere, so that a test can compare.

import { build } from "esbuild";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const into = process.argv[2] === "--into" ? process.argv[3] : join(here, "dist");
/** Bytes of everything but the editor, compressed. */
const MOST = 150_000;

await rm(into, { recursive: true, force: true });
await mkdir(into, { recursive: true });

const common = {
  absWorkingDir: here,
  outdir: into,
  bundle: true,
  minify: true,
  target: ["chrome109", "firefox115", "safari16.4"],
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  metafile: true,
};

const page = await build({
  ...common,
  entryPoints: { page: "src/main.tsx" },
  format: "esm",
  splitting: true,
  chunkNames: "[name]",
  jsx: "automatic",
  jsxImportSource: "preact",
  // The variant for browsers sets `innerHTML`, which the page's policy refuses.
  alias: { "decode-named-character-reference": join(here, "node_modules/decode-named-character-reference/index.js") },
});
await build({ ...common, entryPoints: { theme: "src/theme.ts" }, format: "iife" });
await build({ ...common, entryPoints: { page: "src/style/page.css" } });
for (const name of ["index.html", "icon.svg"]) {
  await writeFile(join(into, name), await readFile(join(here, "src", name)));
}

const notices = new Set();
for (const input of Object.keys(page.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found !== null) notices.add(found[1]);
}
const lines = ["This page contains the following packages, under the terms below.", ""];
for (const name of [...notices].sort()) {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).sort().find((one) => /^licen[cs]e/i.test(one));
  lines.push(`${name} ${about.version} (${about.license})`, "");
  if (file !== undefined) lines.push((await readFile(join(folder, file), "utf8")).trim(), "");
}
await writeFile(join(into, "licences.txt"), `${lines.join("\n").trim()}\n`);

let total = 0;
for (const name of (await readdir(into)).sort()) {
  const bytes = await readFile(join(into, name));
  const packed = gzipSync(bytes, { level: 9 }).length;
  const counts = !/^(editor|licences)/.test(name);
  if (counts) total += packed;
  console.log(`${name.padEnd(24)} ${String(bytes.length).padStart(8)} bytes, ${String(packed).padStart(7)} compressed${counts ? "" : " (not loaded at first)"}`);
}
console.log(`${"".padEnd(24)} ${String(total).padStart(31)} compressed in all`);
if (total > MOST) {
  console.error(`The page is larger than ${MOST} bytes.`);
  process.exit(1);
}
