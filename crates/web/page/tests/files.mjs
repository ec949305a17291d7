// Files up and down as a person sends and saves them: by the button, by a drop, stopped half way,
// refused; one by one, as an archive and as a patch. What was sent is staged and lands when applied.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { accessible, begin, check, enter, equal, state, story } from "./scene.mjs";

const LARGE = 96 << 20;

async function hashOf(path) {
  const hash = createHash("sha256");
  const file = await open(path);
  for await (const piece of file.createReadStream()) hash.update(piece);
  return hash.digest("hex");
}

/** Clicks a link and gives the path of what the browser saved. */
async function saved(page, selector) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
  const path = await download.path();
  return { path, name: download.suggestedFilename(), url: download.url() };
}

await story("files", async (browser, scene) => {
  const place = await scene([{ text: "Fine." }], { "mine.txt": "mine\n" });
  const server = await place.serve();
  const person = await browser.person({ acceptDownloads: true });
  const page = await enter(person, server.url);
  const session = await begin(page);
  await state(page, "idle");

  // By the button: a large one, whose bytes the page never holds.
  const from = join(place.root, "from");
  await mkdir(from);
  const large = join(from, "large ä.bin");
  const file = await open(large, "w");
  const piece = Buffer.alloc(1 << 20, "interpreter ");
  for (let at = 0; at < LARGE; at += piece.length) {
    piece.writeUInt32LE(at, 0);
    await file.write(piece);
  }
  await file.close();
  const debuggerOf = await person.newCDPSession(page);
  const heap = async () => {
    await debuggerOf.send("HeapProfiler.collectGarbage");
    return (await debuggerOf.send("Runtime.getHeapUsage")).usedSize;
  };
  const before = await heap();
  await page.setInputFiles("[data-field=files]", [large]);
  await page.waitForSelector("[data-upload=sending] progress");
  await page.waitForFunction(() => document.querySelector("[data-upload=sending] progress")?.value > 0);
  await page.waitForFunction(() => document.querySelector(".upload") === null);
  await page.waitForFunction(() => document.querySelector(".mark")?.textContent.includes("large ä.bin was sent") === true);
  check((await heap()) - before < 16 << 20, "the page holds what it sent");

  // By a drop, with a file in a folder; and one whose name is refused stays with its reason.
  const drop = (names) => page.evaluate(async (names) => {
    const data = new DataTransfer();
    for (const [name, text] of names) data.items.add(new File([text], name));
    const box = document.querySelector(".session");
    const rect = box.getBoundingClientRect();
    const fire = (kind) => box.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data, clientX: rect.x + 50, clientY: rect.y + 50 }));
    fire("dragenter");
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const isShown = document.querySelector(".drop") !== null;
    fire("drop");
    return isShown;
  }, names);
  check(await drop([["mine.txt", "theirs\n"], ["b.csv", "a,b\n1,2\n"]]), "the place to drop is not shown");
  await page.waitForFunction(() => document.querySelectorAll(".mark").length === 3);
  await drop([["wrong\\name", "x"]]);
  await page.waitForSelector("[data-upload=failed] .upload-problem");
  await accessible(page, "a file that is refused");
  await page.click("[data-act=upload-cancel]");
  await page.waitForFunction(() => document.querySelector(".upload") === null);
  check(!existsSync(join(place.work, "b.csv")), "a file that was sent landed by itself");

  // Stopped half way: nothing of it is there.
  const held = [];
  await person.route(/half/, (route) => {
    held.push(route);
  });
  await drop([["half.txt", "half"]]);
  await page.waitForSelector("[data-upload=sending]");
  await accessible(page, "an upload");
  await page.click("[data-act=upload-cancel]");
  await page.waitForFunction(() => document.querySelector(".upload") === null);
  // The browser's own interception, once it ends, would send a request that is just being given up.
  for (const route of held) await route.abort().catch(() => undefined);
  await person.unroute(/half/);

  // Down again: the staged file, all of them, and a patch.
  await page.click(".head [data-act=changes]");
  await page.waitForSelector("[data-file='b.csv']");
  equal(await page.locator("[data-file='half.txt']").count(), 0, "the file that was stopped");
  await page.waitForSelector("[data-file='b.csv'] [data-act=save][href]");
  const csv = await saved(page, "[data-file='b.csv'] [data-act=save]");
  equal([await readFile(csv.path, "utf8"), csv.name], ["a,b\n1,2\n", "b.csv"], "the saved file");
  const back = await saved(page, "[data-file='large ä.bin'] [data-act=save]");
  equal(await hashOf(back.path), await hashOf(large), "the large file");
  await page.click(".changes-head .menu > summary");
  await page.waitForSelector("[data-act=save-staged-zip][href]");
  await accessible(page, "the menu to save");
  equal(await page.locator("[data-act=save-applied-zip]").count(), 0, "nothing was applied");
  const zip = await saved(page, "[data-act=save-staged-zip]");
  equal((await readFile(zip.path)).subarray(0, 4).toString("latin1"), "PK\u0003\u0004", "an archive");
  await page.click(".changes-head .menu > summary");
  const patch = await saved(page, "[data-act=save-staged-patch]");
  check((await readFile(patch.path, "utf8")).includes("-mine\n+theirs\n"), "the patch");

  // The address of a link opens nothing without the login, and nothing else with it.
  const asked = async (url) => (await fetch(url)).status;
  equal(await asked(csv.url), 401, "a link without the cookie");
  const inPage = (url) => page.evaluate(async (url) => (await fetch(url)).status, url);
  equal([await inPage(csv.url), await inPage(csv.url.replace("b.csv", "mine.txt")), await inPage(csv.url.split("?")[0])], [200, 401, 401], "a link of another file");

  // Applied without the large one: on the disk, and saved from there.
  await page.click("[data-file='large ä.bin'] .file-head input");
  await page.click(".changes-acts [data-act=apply]");
  await page.waitForFunction(() => document.querySelector("[data-file='b.csv']") === null);
  equal(await readFile(join(place.work, "mine.txt"), "utf8"), "theirs\n", "the applied file");
  await page.click(".changes-head .menu > summary");
  const applied = await saved(page, "[data-act=save-applied-patch]");
  check((await readFile(applied.path, "utf8")).includes("+theirs"), "the patch of what was applied");
  await page.click(".changes-acts [data-act=undo]");
  await page.waitForSelector("[data-act=redo]:enabled");
  equal(await readFile(join(place.work, "mine.txt"), "utf8"), "mine\n", "undone");
  await accessible(page, "changes that were undone");

  // A session that has ended takes and gives no files.
  await server.perform("close", { session });
  await page.waitForFunction(() => document.querySelector(".over") !== null);
  equal(await page.locator("[data-act=save], [data-act=attach]").count(), 0, "files of a session that has ended");
  const complaints = browser.complaints.filter((one) => !/40[01]|422|Failed to load resource/.test(one));
  equal(complaints, [], "complaints of the page");
});
