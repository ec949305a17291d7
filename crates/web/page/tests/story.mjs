// Two tabs, one question, and a server that is killed while another one is open.

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
  await page.waitForSelector("[data-act=resume]");
  await page.click("[data-act=resume]");
  await page.waitForFunction((old) => location.hash.startsWith("#/s/") && location.hash !== `#/s/${old}`, session);
  await page.waitForSelector(".card.open [data-act=run]");
  equal(await page.getAttribute(".card.open", "data-question"), asked, "the same question is open again");
  await page.waitForFunction(() => document.querySelector(".prompt-text")?.textContent === "Compute.");
  await act(page, "run", ".card.open");
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

  // What was said is found again.
  await page.fill(".search input", "Compute");
  await page.waitForFunction(() => document.querySelectorAll(".side-list .item").length > 0);
  const complaints = browser.complaints.filter((one) => !/WebSocket|ERR_CONNECTION|401|Failed to load resource/.test(one));
  equal(complaints, [], "complaints of the page");
});
