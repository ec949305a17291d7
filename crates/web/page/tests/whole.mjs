// The whole story by keys alone: a link, a prompt, a question answered in a second tab, a plot seen as
// pixels, a staged file that is applied and undone, a server that is killed, and the same picture after.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { accessible, act, check, colours, coloursOf, enter, equal, PATIENCE, shown, state, story } from "./scene.mjs";

const PLOT = `class Plot:
    def _repr_svg_(self):
        bars = "".join(f'<rect x="{40 * i}" y="{160 - 20 * i}" width="36" height="{20 * i}" fill="#c03020"/>' for i in range(8))
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="320" height="160">{bars}</svg>'
open("kept.md", "w").write("# Kept\\n")
Plot()`;

const REPLIES = [
  { text: "The plot.", call: { language: "python", code: PLOT } },
  { text: "It is there." },
  { text: "Going on.", call: { language: "python", code: "print('again', 6 * 7)" } },
  { text: "Done." },
];

/** Goes on with Tab until something has the focus. */
async function tabTo(page, selector) {
  for (let at = 0; at < 120; at += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((selector) => document.activeElement?.matches(selector) === true, selector)) return;
  }
  throw new Error(`Tab never came to ${selector}`);
}

/** Presses a combination until a condition holds: an early one is ignored. */
async function pressUntil(page, keys, holds) {
  for (const until = Date.now() + PATIENCE; Date.now() < until && !(await page.evaluate(holds));) {
    await page.keyboard.press(keys);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
}

await story("whole", async (browser, scene) => {
  const place = await scene(REPLIES);
  const server = await place.serve();
  const person = await browser.person();
  const page = await enter(person, server.url);
  const other = await enter(person, server.origin);
  await page.bringToFront();

  await tabTo(page, "[data-act=open]");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.id === "composer");
  const session = await page.evaluate(() => decodeURIComponent(location.hash.slice("#/s/".length)));
  await page.keyboard.type("Plot it.");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.classList.contains("card"));

  // The second tab finds the question and answers it, by keys as well.
  await other.bringToFront();
  await tabTo(other, ".side-link[href='#/inbox']");
  await other.keyboard.press("Enter");
  await other.waitForSelector(".waiting");
  await accessible(other, "the inbox");
  await tabTo(other, ".waiting");
  await other.keyboard.press("Enter");
  await other.waitForFunction(() => document.activeElement?.classList.contains("card"));
  await pressUntil(other, "Control+Enter", () => document.querySelector("[data-cell=p1] .card.open") === null);
  await page.bringToFront();
  await page.waitForFunction(() => document.querySelector("[data-cell=p1] img.picture")?.naturalWidth === 320);
  const seen = await colours(page, "[data-cell=p1] img.picture");
  check((seen["192,48,32"] ?? 0) > 5_000, "the plot has no pixels of its bars");
  check((seen["255,255,255"] ?? 0) > 5_000, "the plot has no ground");
  check((await page.textContent("[data-cell=p1] .source-head")).includes("Approved by you"), "who approved it");

  await page.waitForFunction(() => document.querySelector("[data-act=later]") !== null);
  await act(page, "later", ".card.open");
  await state(page, "idle");
  check(!existsSync(join(place.work, "kept.md")), "a staged file landed");
  await page.focus(".skip");
  await tabTo(page, ".head [data-act=changes]");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[data-file='kept.md']");
  await tabTo(page, ".changes-acts [data-act=apply]");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[data-act=undo]:enabled");
  equal(await readFile(join(place.work, "kept.md"), "utf8"), "# Kept\n", "the file that was applied");
  await tabTo(page, "[data-act=undo]");
  await page.keyboard.press("Enter");
  await page.waitForSelector("[data-act=redo]:enabled");
  check(!existsSync(join(place.work, "kept.md")), "undo left the file");
  await page.setViewportSize({ width: 1600, height: 900 });
  await accessible(page, "a session beside its changes");
  await page.setViewportSize({ width: 1280, height: 900 });

  // Killed: the new server shows the same, and the session goes on.
  // What was staged is no longer, once the session has ended.
  // Only a session that runs offers to go back.
  const told = async () => (await shown(page)).map((text) => text.replace(/1 (?:staged|changed) file$/, "").replace("Go back to before this cell", ""));
  const before = await told();
  await server.end("SIGKILL");
  await page.waitForSelector(".lost");
  await accessible(page, "a lost connection");
  const second = await place.serve();
  await page.goto(second.url);
  await page.waitForSelector(".app");
  await page.click(`.item[href='#/s/${session}']`);
  await page.waitForSelector("[data-act=resume]");
  await page.waitForFunction(() => document.querySelector("[data-cell=p1] img.picture")?.naturalWidth === 320);
  equal(await told(), before, "the picture after a kill");
  await page.click("[data-act=resume]");
  await page.waitForFunction((old) => location.hash.startsWith("#/s/") && location.hash !== `#/s/${old}`, session);
  await page.waitForFunction(() => document.querySelector("#composer") !== null && document.querySelector(".prompt-text")?.textContent === "Plot it.");
  await accessible(page, "a session that goes on");

  // No flash: the ground is dark before the page's own script has come.
  await page.click("[data-act=theme]");
  equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark", "the theme");
  let release = () => undefined;
  const held = new Promise((done) => release = done);
  await person.route(/\/page\.js$/, async (route) => {
    await held;
    await route.fallback();
  });
  await page.reload({ waitUntil: "commit" });
  await page.waitForFunction(() => document.querySelector("#app") !== null && getComputedStyle(document.body).backgroundColor !== "rgba(0, 0, 0, 0)");
  // The library would wait for the script before it takes its picture.
  const camera = await person.newCDPSession(page);
  const { data } = await camera.send("Page.captureScreenshot", { format: "png" });
  const first = Object.keys(await coloursOf(page, Buffer.from(data, "base64")));
  equal(first, ["22,21,19"], "the colour of the first paint");
  release();
  await page.waitForSelector(".app");
  const complaints = browser.complaints.filter((one) => !/WebSocket|ERR_CONNECTION|401|Failed to load resource/.test(one));
  equal(complaints, [], "complaints of the page");
});
