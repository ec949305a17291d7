// Figures of the page, for a person to compare: printed, and never a reason to fail. The size of the
// page is held by its build.

import { performance } from "node:perf_hooks";
import { act, begin, enter, say, state, story } from "./scene.mjs";

const RECORDS = 10_000;

await story("figures", async (browser, scene) => {
  // From the start of the server to a first cell that was answered.
  const place = await scene([{ text: "One.", call: { language: "python", code: "print('first', 6 * 7)" } }, { text: "Done." }]);
  const warm = await browser.person();
  await (await warm.newPage()).goto("about:blank");
  const from = performance.now();
  const server = await place.serve();
  const page = await enter(warm, server.url);
  const shown = performance.now();
  const session = await begin(page);
  await say(page, "Compute.");
  await act(page, "run", ".card.open");
  await page.waitForFunction(() => document.querySelector("[data-cell=p1] .output")?.textContent.includes("first 42") === true);
  const answered = performance.now();
  console.log(`  from serve to the page ${Math.round(shown - from)} ms, to a first answered cell ${Math.round(answered - from)} ms, with the half second that a question must stand still`);
  await state(page, "idle");

  // From the choice of a session of ten thousand records to its first paint.
  await server.perform("run", { session, language: "python", code: `for number in range(${RECORDS}):\n    display(number)` });
  await state(page, "idle");
  for (const attempt of ["first", "second", "third"]) {
    const other = await warm.newPage();
    await other.goto(server.origin);
    await other.waitForSelector(`.item[href='#/s/${session}']`);
    const times = await other.evaluate((session) => new Promise((done) => {
      const from = performance.now();
      let painted = 0;
      const look = () => {
        const after = Number(document.querySelector(".entries")?.dataset.after ?? 0);
        if (painted === 0 && document.querySelector(".column article") !== null) painted = performance.now() - from;
        if (after > 10_000) done({ painted, whole: performance.now() - from, after });
        else requestAnimationFrame(look);
      };
      document.querySelector(`.item[href='#/s/${session}']`).click();
      requestAnimationFrame(look);
    }), session);
    console.log(`  ${times.after} records, the ${attempt} time: first paint after ${Math.round(times.painted)} ms, all after ${Math.round(times.whole)} ms`);
    await other.close();
  }
});
