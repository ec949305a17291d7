// Twenty tabs, all live; and a tab that sleeps while things happen, with its connection gone, shows the
// same as one that stayed awake.

import { act, begin, check, enter, equal, say, shown, state, story } from "./scene.mjs";

const REPLIES = Array.from({ length: 3 }, (_, at) => [
  { text: `Reply ${at}.`, call: { language: "python", code: `print('run ${at}', ${at} * 7)` } },
  { text: `That was ${at}.` },
]).flat();
const TABS = 20;

await story("tabs", async (browser, scene) => {
  const place = await scene(REPLIES);
  const server = await place.serve();
  const person = await browser.person();
  await person.addInitScript(() => {
    const Native = globalThis.WebSocket;
    globalThis.WebSocket = class extends Native {
      constructor(...all) {
        super(...all);
        globalThis.cut = () => this.close();
      }
    };
  });
  const page = await enter(person, server.url);
  const session = await begin(page);
  await state(page, "idle");
  const tabs = [page];
  while (tabs.length < TABS) {
    const tab = await person.newPage();
    await tab.goto(`${server.origin}/#/s/${session}`);
    tabs.push(tab);
  }
  await Promise.all(tabs.map((tab) => tab.waitForSelector("#composer")));
  await page.bringToFront();
  await say(page, "One.");
  await Promise.all(tabs.map((tab) => tab.waitForSelector(".card.open")));
  await act(tabs[TABS - 1], "run", ".card.open");
  await Promise.all(tabs.map((tab) => tab.waitForFunction(() => document.querySelector(".outcome") !== null && document.querySelector(".head .state-idle") !== null)));
  const whole = await shown(page);
  check(whole.some((text) => text.includes("run 0 0")), "nothing was shown");
  for (const [at, tab] of tabs.entries()) equal(await shown(tab), whole, `tab ${at}`);
  for (const tab of tabs.slice(3)) await tab.close();

  // Asleep: frozen by the browser, without a network, its connection gone.
  const [, sleeper, offline] = tabs;
  const sleep = await person.newCDPSession(sleeper);
  await sleeper.evaluate(() => globalThis.cut());
  await sleep.send("Network.enable");
  await sleep.send("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await sleep.send("Page.setWebLifecycleState", { state: "frozen" });
  // Another one only loses its network, and hears of it.
  const network = await person.newCDPSession(offline);
  await network.send("Network.enable");
  await network.send("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await offline.evaluate(() => globalThis.cut());
  await offline.waitForSelector(".lost");

  await page.bringToFront();
  await say(page, "Two.");
  await act(page, "run", ".card.open");
  await page.waitForFunction(() => document.querySelectorAll(".outcome").length === 2 && document.querySelector(".head .state-idle") !== null);
  const later = await shown(page);
  check(later.some((text) => text.includes("run 1 7")), "nothing happened meanwhile");
  check(await offline.evaluate(() => document.querySelectorAll(".outcome").length) === 1, "the tab without a network saw it all the same");

  const on = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
  await sleep.send("Page.setWebLifecycleState", { state: "active" });
  await sleep.send("Network.emulateNetworkConditions", on);
  await network.send("Network.emulateNetworkConditions", on);
  for (const tab of [sleeper, offline]) {
    await tab.bringToFront();
    await tab.waitForFunction(() => document.querySelectorAll(".outcome").length === 2 && document.querySelector(".lost") === null && document.querySelector(".head .state-idle") !== null);
    equal(await shown(tab), later, "the picture after sleep");
  }
  // It is live again, not only repaired.
  await sleeper.bringToFront();
  await say(sleeper, "Three.");
  await act(sleeper, "run", ".card.open");
  for (const tab of [page, sleeper, offline]) await tab.waitForFunction(() => [...document.querySelectorAll(".output")].some((one) => one.textContent.includes("run 2 14")));
  const complaints = browser.complaints.filter((one) => !/WebSocket|ERR_INTERNET_DISCONNECTED|Failed to load resource/.test(one));
  equal(complaints, [], "complaints of the page");
});
