// A session of more than ten thousand records: a tab whose connection is cut at random ends with the
// same picture as one that was never cut, also while a reply is being written.

import { begin, check, enter, equal, say, state, story } from "./scene.mjs";

const RECORDS = 10_000;
const words = Array.from({ length: 1500 }, (_, at) => `word${at} grüße 👩‍👩‍👧`).join(" ");
const REPLIES = [{ text: `# A long one\n\n${words}\n\n- a\n- b\n`, chunk: 5 }];

/** Everything that the conversation shows. */
function shown(page) {
  return page.evaluate(async () => {
    for (;;) {
      const more = [...document.querySelectorAll(".column > .unfold")].find((button) => button.textContent.startsWith("Show"));
      if (more === undefined) break;
      more.click();
      await new Promise((done) => setTimeout(done));
    }
    return [...document.querySelectorAll(".column > *")].map((element) => element.textContent);
  });
}

function reached(page, seq) {
  return page.waitForFunction((wanted) => Number(document.querySelector(".entries")?.dataset.after ?? 0) >= wanted, seq);
}

await story("many", async (browser, scene) => {
  const place = await scene(REPLIES);
  const server = await place.serve();
  const person = await browser.person();
  // Connections can be cut from outside of the page's own code.
  await person.addInitScript(() => {
    const Native = globalThis.WebSocket;
    globalThis.cuts = 0;
    globalThis.WebSocket = class extends Native {
      constructor(...all) {
        super(...all);
        globalThis.cut = () => {
          globalThis.cuts += 1;
          this.close();
        };
      }
    };
  });
  const page = await enter(person, server.url);
  const session = await begin(page);

  await server.perform("run", { session, language: "python", code: `for number in range(${RECORDS}):\n    display(number)` });
  const row = async () => (await server.perform("list", { limit: 5 })).sessions.find((one) => one.session === session);
  let seq = 0;
  await page.waitForFunction(() => document.querySelector(".outcome") !== null);
  await state(page, "idle");
  seq = (await row()).seq;
  check(seq > RECORDS, `only ${seq} records`);
  await reached(page, seq);

  // Attach anew: the newest entries are drawn first.
  const other = await person.newPage();
  await other.goto(server.origin);
  await other.waitForSelector(".app");
  const from = performance.now();
  await other.evaluate((id) => {
    location.hash = `#/s/${id}`;
  }, session);
  await reached(other, seq);
  console.log(`  ${seq} records attached in ${Math.round(performance.now() - from)} ms`);

  // Cut at random while it attaches.
  const cut = await person.newPage();
  let cuts = 0;
  await cut.goto(server.origin);
  await cut.waitForSelector(".app");
  await cut.evaluate((id) => {
    location.hash = `#/s/${id}`;
  }, session);
  for (let round = 0; round < 20; round += 1) {
    const after = await cut.evaluate(() => Number(document.querySelector(".entries")?.dataset.after ?? 0));
    await cut.evaluate(() => globalThis.cut?.());
    cuts += 1;
    if (after >= seq) break;
    await cut.waitForFunction((before) => Number(document.querySelector(".entries")?.dataset.after ?? 0) > before, after);
  }
  await reached(cut, seq);
  const whole = await shown(other);
  equal(await shown(cut), whole, "the picture after cuts");
  equal(await shown(page), whole, "the picture of the tab that saw it happen");
  check(whole.length > 0 && cuts > 0, "nothing was compared");

  // Cut again and again while a reply is written.
  await say(page, "Write.");
  for (let round = 0; round < 15; round += 1) {
    await cut.evaluate(() => globalThis.cut?.());
    await cut.waitForFunction(() => document.querySelector(".lost") === null);
    if (await page.isVisible(".head .state-idle")) break;
  }
  await page.waitForFunction(() => document.querySelector(".reply:not(.live) .prose li") !== null);
  await state(page, "idle");
  seq = (await row()).seq;
  for (const tab of [page, other, cut]) await reached(tab, seq);
  const last = await shown(page);
  equal(await shown(cut), last, "the picture after cuts in a reply");
  equal(await shown(other), last, "the picture without cuts");
  check(last.some((text) => text.includes("word1499")), "the reply is not there");
});
