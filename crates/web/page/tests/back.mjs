// Going back to before a cell, as a person does it: what it means is shown first, too quick a click
// does nothing, what has changed meanwhile is shown anew, and memory and files are as they were.

import { accessible, act, begin, check, enter, equal, say, state, story } from "./scene.mjs";

const writing = (word) => `x = "${word}"\nopen("a.txt", "w").write(x)`;
const REPLIES = [
  { call: { language: "python", code: writing("one") } },
  { text: "One." },
  { call: { language: "python", code: writing("two") } },
  { text: "Two." },
  { call: { language: "python", code: `print("x is", x, open("a.txt").read())` } },
  { text: "Seen." },
];

/** Approves what a prompt leads to, and decides later on what is staged. */
async function through(page, words) {
  await say(page, words);
  await act(page, "run", ".card.open");
  await act(page, "later", ".card.open");
  await state(page, "idle");
}

async function choose(page, cell) {
  await page.click(`[data-cell=${cell}] .menu summary`);
  await page.click(`[data-cell=${cell}] [data-act=rewind]`);
  await page.waitForSelector(`[data-back=${cell}] .back-how`);
}

await story("back", async (browser, scene) => {
  const place = await scene(REPLIES);
  const server = await place.serve();
  const person = await browser.person();
  const page = await enter(person, server.url);
  const session = await begin(page);
  await through(page, "first");
  await through(page, "second");

  await choose(page, "p2");
  const told = await page.textContent("[data-back=p2]");
  for (const words of ["1 cell", "second", "Python: from memory", "Staged files: as they were then"]) check(told.includes(words), `${words}: ${told}`);
  await accessible(page, "going back");

  // A click that comes with the card does nothing, and staying changes nothing.
  await page.click("[data-back=p2] [data-act=stay]");
  check((await page.$("[data-back]")) === null, "the card is still there");
  await choose(page, "p2");

  // Meanwhile another program runs a cell: what stood on the card is not what would happen.
  await server.perform("run", { session, language: "shell", code: "true" });
  await page.waitForFunction(() => document.querySelector("[data-cell=p3] .outcome")?.textContent.includes("Done"));
  await act(page, "later", ".card.open:not(.back)");
  await state(page, "idle");
  await server.perform("put", { session, path: "mine.txt", base64: btoa("mine") });
  await act(page, "back", "[data-back=p2]");
  await page.waitForFunction(() => document.querySelector("[data-back=p2]")?.textContent.includes("2 cells") === true);
  check((await page.$(".cell.rewound")) === null, "it went back to what was not shown");
  check((await page.textContent("[data-back=p2]")).includes("No longer staged: mine.txt"), "the file that goes with it");
  await act(page, "back", "[data-back=p2]");
  await page.waitForFunction(() => [...document.querySelectorAll(".mark")].some((one) => one.textContent.includes("Went back to before p2")));
  await state(page, "idle");
  equal(await page.$$eval(".cell.rewound", (all) => all.map((one) => one.dataset.cell)), ["p2", "p3"], "the cells that no longer count");

  await through(page, "look");
  await page.waitForFunction(() => document.body.textContent.includes("x is one one"));
  equal(browser.complaints, [], "complaints of the page");
});
