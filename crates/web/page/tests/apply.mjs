// Many staged files are applied by a second click, below what stands out, and by no request without it;
// a file in which a value is masked is applied by its own button, or not at all.

import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { accessible, act, begin, check, enter, equal, say, state, story } from "./scene.mjs";

const VALUE = "Zq8-Wx3_Lm5.vB7nK2rT";
const MANY = "import os\nos.makedirs('data', exist_ok=True)\nfor n in range(60): open(f'data/{n:02}.csv', 'w').write('x')\nopen('data/run.sh', 'w').write('x')\nopen('Makefile', 'w').write('all:')";
const APART = `for name in ('conf.txt', 'more.txt'):\n    open(name, 'w').write('port=1\\nkey=${VALUE}\\n')\nopen('${VALUE}.txt', 'w').write('x')\nopen('a.txt', 'w').write('a')`;

/** The files that have landed in the work folder. */
async function landed(place) {
  const all = await readdir(place.work, { recursive: true });
  return all.filter((name) => /\.|Makefile/.test(name)).length;
}

/** Clicks until something is there: a click that comes too early is not taken. */
async function clickUntil(page, selector, wanted) {
  for (const until = Date.now() + 60_000; Date.now() < until && !(await wanted());) {
    await page.click(selector).catch(() => undefined);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
  check(await wanted(), `${selector}: it did not count`);
}

await story("many-files", async (browser, scene) => {
  const place = await scene([{ text: "Files.", call: { language: "python", code: MANY } }, { text: "There." }, { text: "Again.", call: { language: "python", code: MANY } }, { text: "There again." }]);
  const server = await place.serve();
  const page = await enter(await browser.person(), server.url);
  const session = await begin(page);
  await say(page, "Make files.");
  await act(page, "run", ".card.open");
  await page.waitForSelector(".card.open .outline");
  check((await page.textContent(".card.open .outline")).includes("data/run.sh"), "what stands out is named");
  await accessible(page, "many files, a question");

  // A program that answers without the outline is refused, and the question stays.
  const { questions } = await server.perform("list");
  const answer = { session, question: questions[0].id, hash: questions[0].hash, decision: "apply" };
  const refused = await server.perform("answer", answer).then(() => "", String);
  check(refused.includes("outline_unseen"), refused);
  // The first click asks again; the second one counts.
  await act(page, "apply", ".card.open");
  await page.waitForSelector(".card.open [data-act=apply-all]");
  equal(await landed(place), 0, "files that landed by the first click");
  await act(page, "back", ".card.open");
  // The effects pane answers the same question.
  await page.click(".card.open [data-act=show-changes]");
  await page.waitForSelector(".changes-acts [data-act=apply]:enabled");
  await page.click(".changes-acts [data-act=apply]");
  await page.waitForSelector(".changes .many .outline");
  equal(await landed(place), 0, "files that landed by the pane's first click");
  await accessible(page, "many files, the pane");
  await clickUntil(page, ".changes [data-act=apply-all]", async () => existsSync(join(place.work, "Makefile")));
  await state(page, "idle");
  equal(await landed(place), 62, "files that landed");
  equal(browser.complaints, [], "complaints of the page");
});

await story("masked-file", async (browser, scene) => {
  const place = await scene([{ text: "Hello." }]);
  place.variables.EXAMPLE_API_TOKEN = VALUE;
  const server = await place.serve();
  const page = await enter(await browser.person(), server.url);
  const session = await begin(page);
  await server.perform("run", { session, language: "python", code: APART });
  await page.waitForSelector(".card.open [data-act=apply-apart]");
  const card = await page.textContent(".card.open");
  check(card.includes("leaving out 3") && card.includes("EXAMPLE_API_TOKEN") && !card.includes(VALUE), card);
  // A file whose name holds the value cannot be named here.
  equal(await page.locator(".card.open [data-act=apply-apart]").count(), 2, "files with a button");
  await accessible(page, "a masked file, a question");
  await act(page, "apply-apart", ".card.open");
  await page.waitForFunction(() => document.querySelectorAll(".card.open [data-act=apply-apart]").length === 1);
  const first = existsSync(join(place.work, "conf.txt")) ? "conf.txt" : "more.txt";
  equal(await readFile(join(place.work, first), "utf8"), `port=1\nkey=${VALUE}\n`, "the file that was named");
  equal(await landed(place), 1, "and nothing else");

  // In the pane, with its lines, beside a button for the rest that says what it leaves out.
  await act(page, "later", ".card.open");
  await state(page, "idle");
  await page.click(".head [data-act=changes]");
  await page.waitForSelector("[data-apart] [data-act=apply-apart]");
  check((await page.textContent(".changes-acts [data-act=apply]")).includes("leaving out 2"), "what all leaves out");
  const pane = await page.textContent(".changes");
  check(pane.includes("port=1") && pane.includes("at a terminal only") && !pane.includes(VALUE), pane);
  await accessible(page, "a masked file, the pane");
  await page.click(".changes-acts [data-act=apply]");
  await page.waitForFunction(() => document.querySelector("[data-file='a.txt']") === null);
  equal(await landed(place), 2, "all of the others");
  await page.click("[data-apart] [data-act=apply-apart]");
  await page.waitForFunction(() => document.querySelectorAll("[data-apart] [data-act=apply-apart]").length === 0);
  equal(await landed(place), 3, "the other masked file");
  check(!existsSync(join(place.work, `${VALUE}.txt`)), "a file that no one could name");
  equal(browser.complaints, [], "complaints of the page");
});
