// A whole chat: login, question, edit, a plot seen as pixels, a staged file applied and undone; on
// light and dark, wide and narrow pages, which axe finds nothing to say about. And a question that is
// answered with a thumb. With LOOK=FOLDER it leaves pictures there to be looked at.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { accessible, act, begin, PATIENCE, check, enter, equal, picture, say, state, story } from "./scene.mjs";

const PLOT = `import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
class Plot:
    def _repr_png_(self):
        width, height = 320, 160
        rows = b""
        for y in range(height):
            rows += b"\\0" + b"".join(b"\\xd0\\x30\\x20" if (x // 40) * 20 > height - y else b"\\xf4\\xf0\\xe8" for x in range(width))
        head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        return b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
Plot()`;

const REPLIES = [
  { text: "I will count the **rows** of `sales.csv` first.\n\n| month | sales |\n|---|--:|\n| Jan | 12 |\n\n1. read\n2. count\n", chunk: 7, call: { language: "python", code: "rows = open('sales.csv').read().splitlines()\nprint('\\x1b[32mrows:\\x1b[0m', len(rows))" } },
  { text: "Now the plot.", call: { language: "python", code: PLOT } },
  { text: "And a summary in a file.", call: { language: "python", code: "open('summary.md', 'w').write('# Summary\\n\\nTwelve rows.\\n')\nopen('sales.csv', 'a').write('Dec,9\\n')\nfor i in range(900): print('line', i)" } },
  { text: "Done: the *summary* is in `summary.md`." },
];

await story("look", async (browser, scene) => {
  const place = await scene(REPLIES, { "sales.csv": "Jan,12\nFeb,9\n" });
  const server = await place.serve();
  const person = await browser.person();
  const page = await enter(person, server.url);
  equal(new URL(page.url()).hash, "#/", "the code is gone from the address");
  await page.waitForSelector("[data-act=open]");
  await accessible(page, "the first page");

  await begin(page);
  await state(page, "idle");
  await accessible(page, "a new session");
  await say(page, "Count the rows and plot them.");
  await page.waitForSelector(".card.open [data-act=run]");
  await page.waitForFunction(() => document.title === "(1) Interpreter");
  await page.waitForFunction(() => document.activeElement?.classList.contains("card"));

  // Keys that were typed ahead do nothing: neither Enter nor Space on the card.
  await page.keyboard.press("Enter");
  await page.keyboard.press("Space");
  check(await page.isVisible(".card.open [data-act=run]"), "typed keys answered");
  await accessible(page, "a question");

  // Edited in place: the edited code is asked about again.
  await page.click(".card.open [data-act=edit]");
  await page.waitForSelector(".editor[data-ready]");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("\nprint('edited')");
  await accessible(page, "the editor");
  await act(page, "run-edited", ".card.open");
  await page.waitForFunction(() => document.querySelector(".card.open .code")?.textContent.includes("print('edited')") === true);
  await act(page, "run", ".card.open");
  await page.waitForFunction(() => document.querySelector("[data-cell=p1] .output")?.textContent.includes("edited") === true);
  check(await page.evaluate(() => [...document.querySelectorAll("[data-cell=p1] .ink-green")].some((span) => span.textContent === "rows:")), "colours are spans");

  // The plot, answered by keys: the card has the focus, and the combination is deliberate.
  await page.waitForFunction(() => document.querySelector(".card.open .code")?.textContent.includes("_repr_png_") === true);
  await page.waitForFunction(() => document.activeElement?.classList.contains("card"));
  const before = await page.locator("[data-cell=p2] .picture").count();
  equal(before, 0, "no picture yet");
  for (const until = Date.now() + PATIENCE; Date.now() < until && await page.isVisible(".card.open [data-act=run]") && await page.evaluate(() => document.querySelector(".card.open .code")?.textContent.includes("_repr_png_") === true);) {
    await page.keyboard.press("Control+Enter");
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
  const plot = page.locator("[data-cell=p2] img.picture");
  await plot.waitFor();
  await plot.scrollIntoViewIfNeeded();
  await page.waitForFunction(() => {
    const image = document.querySelector("[data-cell=p2] img.picture");
    return image.complete && image.naturalWidth === 320;
  });
  const pixels = await page.evaluate(() => {
    const image = document.querySelector("[data-cell=p2] img.picture");
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [320, 160];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return [[310, 155], [5, 5]].map(([x, y]) => [...context.getImageData(x, y, 1, 1).data.slice(0, 3)]);
  });
  equal(pixels, [[0xd0, 0x30, 0x20], [0xf4, 0xf0, 0xe8]], "the plot's pixels");

  // A staged file: nothing lands before it is applied.
  await page.waitForFunction(() => document.querySelector(".card.open .code")?.textContent.includes("summary.md") === true);
  await picture(page, "5-plot");
  await act(page, "run", ".card.open");
  // The turn ends with the question what becomes of the changes, or is idle.
  await page.waitForFunction(() => document.querySelector(".head .state-idle, [data-act=later]") !== null);
  if (await page.isVisible("[data-act=later]")) {
    await accessible(page, "the question about changes");
    await act(page, "later", ".card.open");
  }
  await state(page, "idle");
  check(!existsSync(join(place.work, "summary.md")), "a staged file landed");
  await page.click(".head [data-act=changes]");
  await page.waitForSelector("[data-file='summary.md']");
  await page.waitForSelector("[data-file='sales.csv']");
  await accessible(page, "changes");
  await page.click(".changes-head [aria-pressed]");
  await page.waitForSelector(".diff.two");
  await accessible(page, "changes side by side");
  await page.click("[data-file='sales.csv'] .file-head input");
  await page.click(".changes-acts [data-act=apply]");
  await page.waitForFunction(() => document.querySelector("[data-file='summary.md']") === null);
  equal(await readFile(join(place.work, "summary.md"), "utf8"), "# Summary\n\nTwelve rows.\n", "the applied file");
  equal(await readFile(join(place.work, "sales.csv"), "utf8"), "Jan,12\nFeb,9\n", "the file that was left out");
  await page.click(".changes-acts [data-act=undo]");
  await page.waitForSelector("[data-act=redo]:enabled");
  check(!existsSync(join(place.work, "summary.md")), "undo left the file");
  await page.click(".changes-acts [data-act=redo]");
  await page.waitForSelector("[data-act=undo]:enabled");
  check(existsSync(join(place.work, "summary.md")), "redo brought nothing");
  await page.click("[aria-label='Close the changes']");

  // Long output is folded, and its rows are made as they are seen.
  const unfold = page.locator("[data-cell=p3] .unfold").first();
  await unfold.scrollIntoViewIfNeeded();
  await unfold.click();
  await page.waitForSelector("[data-cell=p3] .rows");
  check(await page.locator("[data-cell=p3] .row").count() < 200, "all rows were made");
  await page.evaluate(() => {
    const rows = document.querySelector("[data-cell=p3] .rows");
    rows.scrollTop = rows.scrollHeight;
  });
  await page.waitForFunction(() => document.querySelector("[data-cell=p3] .rows").textContent.includes("line 899"));
  await accessible(page, "long output");

  // Dark, by the switch, without a flash: the first paint after a reload has the colour.
  await page.click("[data-act=theme]");
  equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark", "the theme");
  await page.reload();
  await page.waitForSelector("[data-cell=p3]");
  equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(22, 21, 19)", "dark after a reload");

  // Narrow, where the list of sessions is behind a button.
  await page.setViewportSize({ width: 320, height: 640 });
  await page.evaluate(() => document.querySelector("[data-cell=p2]").scrollIntoView());
  await accessible(page, "a whole chat");
  await page.click("[aria-label=Sessions] >> visible=true");
  await page.waitForSelector(".side.is-open");
  await accessible(page, "the narrow list");
  equal(browser.complaints, [], "complaints of the page");
});

await story("thumb", async (browser, scene) => {
  const code = Array.from({ length: 60 }, (_, at) => `print(${at})`).join("\n");
  const place = await scene([{ text: "Many lines.", call: { language: "python", code } }, { text: "Counted." }]);
  const server = await place.serve();
  const person = await browser.person({ viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true });
  const page = await enter(person, server.url);
  check(await page.evaluate(() => matchMedia("(pointer: coarse)").matches && navigator.maxTouchPoints > 0), "it is no touch screen");
  await page.tap("[data-act=open]");
  await page.waitForSelector("#composer");
  await page.fill("#composer", "Count.");
  await page.tap("[data-act=send]");
  await page.waitForSelector(".card.open [data-act=run]");

  // Each button is as large as a thumb needs it, whole in sight, and nothing lies on it.
  const seen = () => page.evaluate(() => [...document.querySelectorAll(".card.open .acts button")].map((button) => {
    const { left, top, right, bottom, width, height } = button.getBoundingClientRect();
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return {
      name: button.dataset.act, isLarge: width >= 44 && height >= 44, isFree: button.contains(hit),
      isInSight: left >= 0 && top >= 0 && right <= visualViewport.width && bottom <= visualViewport.height,
    };
  }));
  const fine = (name) => ({ name, isLarge: true, isFree: true, isInSight: true });
  await page.waitForFunction(() => {
    const { bottom } = document.querySelector(".card.open .acts").getBoundingClientRect();
    return bottom <= visualViewport.height;
  });
  equal(await seen(), ["run", "edit", "reject-with", "stand"].map(fine), "the buttons of the question");
  await picture(page, "thumb");
  await act(page, "run", ".card.open", "tap");
  await page.waitForFunction(() => document.querySelector("[data-cell=p1] .outcome")?.textContent.startsWith("Done") === true);
  await page.waitForFunction(() => document.querySelector(".entries").textContent.includes("Counted."));
  equal(await page.evaluate(() => document.documentElement.scrollWidth), 320, "the width");
  equal(browser.complaints, [], "complaints of the page");
});
