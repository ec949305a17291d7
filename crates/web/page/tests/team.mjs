// A team: each person sees who they are, an author shares a session, an approver says yes in their own
// name, a viewer only watches, and what is taken back is gone at once.

import { accessible, act, begin, check, equal, say, state, story } from "./scene.mjs";

const PASSWORD = "correct-horse-battery";

async function logIn(person, origin, name) {
  const page = await person.newPage();
  await page.goto(origin);
  await page.fill("input[name=name]", name);
  await page.fill("input[name=password]", PASSWORD);
  await page.click("button[type=submit]");
  await page.waitForSelector(".app");
  await page.waitForFunction((name) => document.querySelector(".myself")?.textContent.includes(name), name);
  return page;
}

await story("team", async (browser, scene) => {
  const place = await scene([{ text: "Computed.", call: { language: "python", code: "print(6 * 7)" } }, { text: "Done." }]);
  const roles = [["anna", "author"], ["ben", "approver"], ["vera", "viewer"]];
  for (const [name, role] of roles) await place.run(["serve", "user", "add", name, "--role", role], `${PASSWORD}\n`);
  const server = await place.serve(["--team"]);
  const people = [];
  for (const [name] of roles) people.push(await logIn(await browser.person(), server.origin, name));
  const [anna, ben, vera] = people;
  for (const [at, [, role]] of roles.entries()) check((await people[at].textContent(".myself")).includes(role), `${role} is not shown`);

  const session = await begin(anna);
  await state(anna, "idle");
  await anna.click(".head .menu > summary");
  await anna.click("[data-act=share]");
  await anna.waitForSelector("[data-aside=sharing][open]");
  const share = async (name, kind) => {
    await anna.fill("[data-field=share-name]", name);
    await anna.selectOption(".share-form select", kind);
    await anna.click("[data-act=share-add]");
  };
  await share("ben", "drive");
  await anna.waitForSelector("[data-share=ben]");
  await share("vera", "watch");
  await anna.waitForSelector("[data-share=vera]");
  await share("nobody", "watch");
  await anna.waitForSelector("[data-aside=sharing] .problem");
  await accessible(anna, "sharing");
  await anna.keyboard.press("Escape");
  await anna.waitForFunction(() => document.querySelector("[data-aside=sharing]") === null);

  // Who watches has no place to write and no answer; the author may not say yes to their own.
  await say(anna, "Compute.");
  for (const page of [ben, vera]) await page.click(`.item[href='#/s/${session}']`);
  for (const page of [anna, vera]) {
    await page.waitForSelector(".card.open");
    await page.waitForSelector(".card.open [data-act=run]:disabled");
  }
  equal(await vera.locator("#composer, [data-act=attach]").count(), 0, "a viewer has a place to write");
  check((await vera.textContent(".head")).includes("of anna"), "whose it is");
  await accessible(vera, "a session that is watched");
  await act(ben, "run", ".card.open");
  for (const [page, who] of [[anna, "ben"], [vera, "ben"], [ben, "you"]]) {
    await page.waitForFunction((who) => document.querySelector("[data-cell=p1] .source-head")?.textContent.includes(`Approved by ${who}`), who);
  }
  check((await ben.getAttribute(".prompt", "aria-label")).includes("anna"), "who asked");
  await accessible(ben, "who asked and who approved");

  // Taken back: it is gone at once.
  await anna.click(".head .menu > summary");
  await anna.click("[data-act=share]");
  await anna.click("[data-share=ben] [data-act=unshare]");
  await anna.waitForFunction(() => document.querySelector("[data-aside=sharing] .granted") !== null && document.querySelector("[data-share=ben]") === null);
  await anna.keyboard.press("Escape");
  await ben.reload();
  await ben.waitForSelector(".app");
  await ben.waitForFunction(() => document.querySelector(".side-list") !== null && document.querySelector(".lost") === null);
  equal(await ben.locator(`.item[href='#/s/${session}']`).count(), 0, "a session that is shared no more");

  // Out: nothing of the login is left.
  await vera.click("[data-act=logout]");
  await vera.waitForSelector(".welcome input[name=password]");
  await accessible(vera, "the page to log in with a password");
  equal(await vera.evaluate(() => localStorage.getItem("interpreter.key")), null, "the key after a logout");
  await vera.reload();
  await vera.waitForSelector(".welcome");
  const complaints = browser.complaints.filter((one) => !/WebSocket|40[0-9]|Failed to load resource/.test(one));
  equal(complaints, [], "complaints of the page");
});
