// Two tabs, one question, and a server that is killed while another one is open. A search that finds what
// was said and nothing else. Code that is rejected, without a reason and with one.

import { act, begin, check, enter, equal, say, state, story } from "./scene.mjs";

const REPLIES = [
  { text: "One.", call: { language: "python", code: "print('first', 6 * 7)" } },
  { text: "Two.", call: { language: "python", code: "print('second', 7 * 7)" } },
  { text: "That is all.", chunk: 3 },
];

await story("story", async (browser, scene) => {
  const place = await scene(REPLIES);
  const server = await place.serve();
  const person = await browser.person();
  const page = await enter(person, server.url);

  // A link works once. The person is already in, so the tab goes on with the key that it has.
  const again = await person.newPage();
  await again.goto(server.url);
  await again.waitForSelector(".app");
  const stranger = await (await browser.person()).newPage();
  await stranger.goto(server.url);
  await stranger.waitForSelector(".welcome .problem");
  equal(new URL(stranger.url()).hash, "#/", "the used code is gone from the address");
  await stranger.goto(server.origin);
  await stranger.waitForSelector(".welcome");
  check(await stranger.evaluate(() => localStorage.getItem("interpreter.key")) === null, "a stranger has a key");

  // The question shows in the inbox of the second tab, and its answer in the first.
  const session = await begin(page);
  await say(page, "Compute.");
  await page.waitForSelector(".card.open [data-act=run]");
  await again.click(".side-link[href='#/inbox']");
  await again.click(".waiting");
  await again.waitForSelector(".card.open [data-act=run]");
  await act(again, "run", ".card.open");
  for (const tab of [page, again]) {
    await tab.waitForFunction(() => document.querySelector("[data-cell=p1] .output")?.textContent.includes("first 42") === true);
    check((await tab.textContent("[data-cell=p1] .source-head")).includes("Approved by"), "the cell says who approved it");
  }

  // An answer to a question that is not open, or of another hash, changes nothing.
  await page.waitForSelector("[data-cell=p2] .card.open");
  for (const [question, hash, code] of [["q1", "0".repeat(64), "closed"], ["q2", "0".repeat(64), "another_hash"]]) {
    const refused = await server.perform("answer", { session, question, hash, decision: "run" }).then(() => "", (problem) => problem.message);
    check(refused.includes(code), `${question}: ${refused}`);
  }
  await page.waitForFunction(() => document.title === "(1) Interpreter");

  // The server dies with the question open. A new one finds the same question in the session that
  // goes on, and a yes to it counts.
  await server.end("SIGKILL");
  await page.waitForSelector(".lost");
  const asked = await page.getAttribute(".card.open", "data-question");
  const second = await place.serve();
  await page.goto(second.url);
  await page.waitForSelector(".app");
  await page.click(`.item[href='#/s/${session}']`);
  await page.waitForSelector("[data-cell=p1] .output");
  await page.waitForSelector(".card.open [data-act=run]");
  equal(await page.getAttribute(".card.open", "data-question"), asked, "the same question is open again");
  check((await page.textContent(".over")).includes("still waits"), "the session has ended, and says what an answer does");
  await page.waitForFunction(() => document.title === "(1) Interpreter");
  await act(page, "run", ".card.open");
  await page.waitForFunction((old) => location.hash.startsWith("#/s/") && location.hash !== `#/s/${old}`, session);
  const resumed = await page.evaluate(() => location.hash);
  await page.waitForFunction(() => document.querySelector(".prompt-text")?.textContent === "Compute.");
  await page.waitForFunction(() => [...document.querySelectorAll(".output")].some((one) => one.textContent.includes("second 49")));

  // Stopped, restarted, forked and ended from the page.
  await page.waitForFunction(() => document.querySelector(".head .state-idle, .head .state-asking") !== null);
  if (await page.isVisible("[data-act=interrupt]")) await page.click("[data-act=interrupt]");
  await state(page, "idle");
  await page.click(".head .menu > summary");
  await page.click(".head [data-act=close]");
  await page.waitForSelector(".over");
  await page.click(".over [data-act=fork]");
  await page.waitForSelector("#composer");

  // A word is found where it was said, and nowhere else.
  const found = async (words, hrefs) => {
    await page.fill(".search input", words);
    await page.waitForFunction((hrefs) => {
      const items = [...document.querySelectorAll(".side-list .item")].map((one) => one.getAttribute("href"));
      return document.querySelector(".side-none, .side-title")?.textContent.match(/^(?:Nothing was found\.|Found)$/) && JSON.stringify(items) === JSON.stringify(hrefs);
    }, hrefs);
  };
  check(await page.locator(".side-list .item").count() === 3, "the sessions before a search");
  await found("xylophone", []);
  equal(await page.textContent(".side-list"), "Nothing was found.", "the words of an empty list");
  await found("Compute", [`#/s/${session}`]);
  await found("second", [resumed, `#/s/${session}`]);
  await page.fill(".search input", "");
  await page.waitForFunction(() => document.querySelectorAll(".side-list .item").length === 3);
  const complaints = browser.complaints.filter((one) => !/WebSocket|ERR_CONNECTION|401|Failed to load resource/.test(one));
  equal(complaints, [], "complaints of the page");
});

await story("reject", async (browser, scene) => {
  const place = await scene([
    { text: "One way.", call: { language: "python", code: "print('un' 'wanted')" } },
    { text: "Another way.", call: { language: "python", code: "print('un' 'wanted', 2)" } },
    { expect: "use fewer files", text: "As you wish." },
  ]);
  const server = await place.serve();
  const page = await enter(await browser.person(), server.url);
  const session = await begin(page);
  const rejected = (cell, words) => page.waitForFunction(([cell, words]) => document.querySelector(`[data-cell=${cell}] .source-head`)?.textContent.includes(words) === true, [cell, words]);

  // Without a reason the model stops. The first step rejects nothing, and leads back.
  await say(page, "Do it.");
  await page.click(".card.open [data-act=reject-with]");
  await page.waitForFunction(() => document.activeElement?.matches(".card.open textarea") === true);
  equal(await page.locator(".card.open [data-act=run]").count(), 0, "a way to run it beside the way to reject it");
  await page.click(".card.open .acts .quiet");
  await page.waitForSelector(".card.open [data-act=run]");
  await page.click(".card.open [data-act=reject-with]");
  await act(page, "reject", ".card.open");
  await rejected("p1", "Rejected by you");
  await state(page, "idle");
  equal(await page.locator(".reply").count(), 1, "replies after a rejection without a reason");

  // With one it goes on, and knows it.
  await say(page, "Again.");
  await page.waitForSelector("[data-cell=p2] .card.open");
  await page.click(".card.open [data-act=reject-with]");
  await page.fill(".card.open textarea", " use fewer files\n");
  await act(page, "reject", ".card.open");
  await rejected("p2", "Rejected by you: use fewer files");
  await page.waitForFunction(() => document.querySelector(".entries").textContent.includes("As you wish."));
  await state(page, "idle");
  check(!(await page.textContent("[data-cell=p1] .source-head")).includes("fewer"), "a reason that nobody gave");

  // All of it is on record, and nothing ran.
  const { records } = await server.perform("look", { at: "record", session, limit: 200 });
  const answers = records.filter((one) => one.kind === "answer").map((one) => [one.proposal, one.decision, one.reason ?? null]);
  equal(answers, [["p1", "reject", null], ["p2", "reject", "use fewer files"]], "the answers on record");
  equal(records.filter((one) => one.kind === "run_started").length, 0, "runs");
  equal(await page.locator(".output, .outcome").count(), 0, "output of rejected code");
  equal(browser.complaints, [], "complaints of the page");
});
