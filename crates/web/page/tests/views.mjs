// The views of the server (settings, doctor, record, models), and every card that no other test
// drives: input, host, packages, code that runs again, narrow grants, single hunks.

import { open, readFile, rm, writeFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { packageIndex } from "./index.mjs";
import { accessible, act, begin, check, enter, equal, interpreter, picture, say, state, story } from "./scene.mjs";

const PART = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf.part";

/** Whether elements of the page have these words. */
function shows(page, selector, words) {
  return page.waitForFunction(([selector, words]) => document.querySelector(selector)?.textContent.includes(words) === true, [selector, words]);
}

await story("views", async (browser, scene) => {
  const place = await scene([{ text: "A needle in the hay." }]);
  const server = await place.serve();
  const person = await browser.person();
  const page = await enter(person, server.url);
  const id = await begin(page);
  await say(page, "Look for it.");
  await shows(page, ".entries", "A needle in the hay.");
  await state(page, "idle");

  // Settings: all of them, then those with a word, then those that somebody set.
  await page.click(".side-foot [href='#/settings']");
  await page.waitForSelector("[data-setting=model]");
  const all = await page.locator("[data-setting]").count();
  check(all > 30, `${all} settings`);
  await shows(page, "[data-setting=model]", "config.toml:1");
  await accessible(page, "settings");
  await page.fill("[data-field=settings]", "approval");
  await page.waitForFunction((all) => {
    const count = document.querySelectorAll("[data-setting]").length;
    return count > 0 && count < all;
  }, all);
  await page.fill("[data-field=settings]", "");
  await page.check("[data-field=only-set]");
  await page.waitForFunction(() => document.querySelectorAll("[data-setting]").length === 1);

  // Doctor: on request, the problems first.
  await page.click(".side-foot [href='#/doctor']");
  check(await page.locator(".verdict").count() === 0, "nobody asked yet");
  await page.click("[data-act=examine]");
  await page.waitForSelector(".verdict[data-ready]");
  await page.waitForSelector("[data-finding=record]");
  await accessible(page, "doctor");

  // The whole record, against an anchor.
  await page.click(".side-foot [href='#/record']");
  await page.click("[data-act=verify]");
  await page.waitForSelector(".verdict[data-whole=true]");
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: place.home };
  const anchor = spawnSync(interpreter, ["audit", "anchor"], { cwd: place.work, env: environment, encoding: "utf8" }).stdout.trim();
  await page.fill("[data-field=anchor]", anchor);
  await page.click("[data-act=verify]");
  await page.waitForSelector("[data-anchor=holds]");
  await accessible(page, "record");
  await page.fill("[data-field=anchor]", anchor.replace(/[0-9a-f]{64}$/, "0".repeat(64)));
  await page.click("[data-act=verify]");
  await page.waitForSelector("[data-anchor=broken]");
  await page.fill("[data-field=anchor]", "no anchor");
  await page.click("[data-act=verify]");
  await page.waitForSelector(".problem");

  // Models, and a download that another program makes.
  await page.click(".side-foot [href='#/models']");
  await page.waitForSelector("[data-current^='scripted:']");
  await page.waitForSelector("[data-model='qwen2.5-coder-1.5b']");
  check(await page.locator("progress").count() === 0, "nothing is downloaded yet");
  const part = join(place.home, ".local/share/interpreter/models", PART);
  const file = await open(part, "w");
  await file.truncate(400_000_000);
  await page.waitForFunction(() => document.querySelector("progress")?.value === 400_000_000);
  await accessible(page, "models");
  await file.truncate(800_000_000);
  await page.waitForFunction(() => document.querySelector("progress")?.value === 800_000_000);
  await file.close();
  await rm(part);
  await page.waitForFunction(() => document.querySelector("progress") === null);

  // The records of a session: folded, searched, by keys.
  await page.goto(`${server.origin}/#/s/${encodeURIComponent(id)}`);
  await page.click(".head .menu > summary");
  await page.click(".head [data-act=records]");
  await page.waitForSelector("[data-whole=true]");
  await page.waitForSelector(".kept-row[data-seq='1']");
  await page.focus(".kept-list");
  await page.keyboard.press("ArrowDown");
  await shows(page, ".kept-one", "session_started");
  await accessible(page, "records");
  await page.click("[data-act=close-record]");
  await page.fill("[data-field=records]", "NEEDLE");
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll(".kept-row")];
    return rows.length > 0 && rows.every((row) => row.querySelector(".kept-seq").textContent !== "1");
  });
  await page.click("[data-act=back]");
  await shows(page, ".entries", "A needle in the hay.");
  equal(browser.complaints, [], "complaints of the page");
});

await story("many-records", async (browser, scene) => {
  const place = await scene([]);
  const server = await place.serve();
  const { session } = await server.perform("open", { mode: "run" });
  const code = "import sys\nfor n in range(700):\n    print(n, file=[sys.stdout, sys.stderr][n % 2], flush=True)";
  await server.perform("run", { session, language: "python", code });
  const person = await browser.person();
  const page = await enter(person, server.url);
  await page.goto(`${server.origin}/#/s/${encodeURIComponent(session)}`);
  await state(page, "idle");
  await page.goto(`${server.origin}/#/s/${encodeURIComponent(session)}/record`);
  await page.waitForSelector(".kept-row");
  await page.focus(".kept-list");
  await page.keyboard.press("ArrowDown");
  const kind = () => page.evaluate(() => document.querySelector(".kept-row.here .kept-kind")?.textContent);
  await page.waitForFunction(() => document.querySelector(".kept-row.here") !== null);
  equal(await kind(), "session_started", "the first record");
  // To the end, page by page; only what is in sight is elements.
  while (await page.evaluate(() => {
    const list = document.querySelector(".kept-list");
    return document.querySelector(".kept-row[aria-setsize='-1']") !== null || list.getAttribute("aria-busy") === "true";
  })) {
    await page.keyboard.press("End");
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
  await page.keyboard.press("End");
  const { sessions } = await server.perform("list", { session });
  await page.waitForFunction((seq) => document.querySelector(`.kept-row.here[data-seq='${seq}']`) !== null, sessions[0].seq);
  check(await page.locator(".kept-row").count() < 100, "all rows were made");
  equal(browser.complaints, [], "complaints of the page");
});

const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);
const REPLIES = [
  { text: "Who are you?", call: { language: "python", code: "name = input('Your name? ')\nprint('hello', name)" } },
  { text: "A page.", call: { language: "python", code: "import urllib.request\ntry:\n    urllib.request.urlopen('http://files.example.org/')\nexcept Exception:\n    print('not reached')" } },
  { text: "A package.", call: { language: "python", code: "try:\n    import no_such_package_of_ours\nexcept ImportError:\n    print('no package')\n    raise" } },
  { text: "One.", call: { language: "python", code: "print('one')" } },
  { text: "Two.", call: { language: "python", code: "print('two')" } },
  { text: "Two places.", call: { language: "python", code: "all = open('long.txt').read().splitlines()\nall[1], all[37] = 'second', 'late'\nopen('long.txt', 'w').write('\\n'.join(all) + '\\n')" } },
  { text: "All done." },
];

await story("cards", async (browser, scene) => {
  const place = await scene(REPLIES, { "long.txt": `${lines.join("\n")}\n` });
  const index = await packageIndex(place.home, "no_such_package_of_ours", "another_of_ours");
  const server = await place.serve();
  const person = await browser.person();
  const page = await enter(person, server.url);
  await begin(page);
  await say(page, "Go.");
  const runs = async (words) => {
    await shows(page, ".card.open .code", words);
    await act(page, "run", ".card.open");
  };

  await runs("Your name?");
  await page.waitForSelector(".card.open [data-act=give]");
  await shows(page, ".card.open .field", "Your name?");
  await accessible(page, "input");
  await page.fill(".card.open .field input", "Ada");
  await page.press(".card.open .field input", "Enter");
  await shows(page, "[data-cell=p1]", "hello Ada");

  await runs("files.example.org");
  await page.waitForSelector(".card.open .host");
  await shows(page, ".card.open .host", "files.example.org:80");
  check(await page.locator(".card.open [data-act=allow-always]").count() === 0, "for good takes a second step");
  await page.click(".card.open [data-act=allow-for-good]");
  await page.waitForSelector(".card.open [data-act=allow-always]");
  await accessible(page, "host");
  await act(page, "refuse", ".card.open");
  await shows(page, "[data-cell=p2]", "not reached");

  await runs("no_such_package_of_ours");
  await page.waitForSelector(".card.open [data-act=install]");
  // All that would come, with versions.
  await shows(page, ".card.open .packages", "no_such_package_of_ours 1.0");
  await shows(page, ".card.open .packages", "another_of_ours 1.0 (for no_such_package_of_ours)");
  await accessible(page, "packages");
  await act(page, "refuse", ".card.open");
  await shows(page, "[data-cell=p3]", "no package");
  index.close();

  // Ask less: the second print is not asked about.
  await shows(page, ".card.open .code", "print('one')");
  await page.click(".card.open [data-act=stand]");
  await page.waitForSelector(".card.open .standing");
  await accessible(page, "stand");
  await act(page, "stand-turn", ".card.open");
  await shows(page, "[data-cell=p4]", "one");
  await shows(page, "[data-cell=p5]", "two");

  // One hunk of two lands.
  await runs("long.txt");
  await page.waitForSelector(".card.open [data-act=later]");
  await act(page, "later", ".card.open");
  await state(page, "idle");
  await page.click(".head [data-act=changes]");
  const parts = page.locator("[data-file='long.txt'] .hunk-choice input");
  await parts.nth(1).waitFor();
  equal(await parts.count(), 2, "two parts");
  await parts.nth(1).uncheck();
  await page.waitForFunction(() => document.querySelector("[data-file='long.txt'] .file-head input").indeterminate);
  await accessible(page, "hunks");
  await page.click(".changes-acts [data-act=apply]");
  await page.waitForSelector(".changes-acts [data-act=undo]:enabled");
  equal((await readFile(join(place.work, "long.txt"), "utf8")).split("\n").filter((line, at) => line !== (lines[at] ?? "")), ["second"], "only the first part");
  equal(browser.complaints, [], "complaints of the page");
});

// Whatever holds for more than one run is listed, and taken back while code still waits.
await story("granted", async (browser, scene) => {
  const reach = { text: "A page.", call: REPLIES[1].call };
  const place = await scene([reach, { text: "One.", call: REPLIES[3].call }, { text: "Two.", call: REPLIES[4].call }, reach, { text: "Done." }]);
  const server = await place.serve();
  const person = await browser.person();
  const page = await enter(person, server.url);
  await begin(page);
  await say(page, "Go.");
  await act(page, "run", ".card.open");
  await page.waitForSelector(".card.open .host");
  await act(page, "allow-session", ".card.open");
  await shows(page, "[data-cell=p1]", "not reached");
  await shows(page, ".card.open .code", "print('one')");
  await shows(page, ".card.open", "hosts granted in this session: files.example.org:80");
  await page.click(".card.open [data-act=stand]");
  await act(page, "stand-session", ".card.open");
  await shows(page, "[data-cell=p3]", "two");
  // The host that code reaches is asked about no more; that it would reach one is.
  await shows(page, ".card.open .code", "files.example.org");

  await page.click(".head .menu summary");
  await page.click("[data-act=grants]");
  await shows(page, "[data-aside=grants] [data-standing='1']", "for this session");
  await shows(page, "[data-aside=grants] [data-host]", "files.example.org:80");
  await accessible(page, "granted");
  await picture(page, "granted");
  await page.click("[data-standing='1'] [data-act=take-back]");
  await page.waitForFunction(() => document.querySelector("[data-standing]") === null);
  await page.click("[data-host] [data-act=take-back]");
  await shows(page, "[data-aside=grants] .granted", "you are asked each time");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector("[data-aside]") === null);
  await shows(page, ".entries", "files.example.org:80 may no longer be reached.");
  await act(page, "run", ".card.open");
  await page.waitForSelector(".card.open .host");
  await act(page, "refuse", ".card.open");
  await shows(page, "[data-cell=p4]", "not reached");
  equal(browser.complaints, [], "complaints of the page");
});

await story("again", async (browser, scene) => {
  const place = await scene([
    { text: "One.", call: { language: "python", code: "x = 41\nprint(open('notes.txt').read())" } },
    { text: "It is there." },
    { text: "Another way to say it." },
  ], { "notes.txt": "from elsewhere" });
  const config = join(place.home, ".config/interpreter/config.toml");
  await writeFile(join(place.root, "other.toml"), '[[reply]]\ntext = "The other one."\n');
  await writeFile(config, `${await readFile(config, "utf8")}fallback = ["scripted:${join(place.root, "other.toml")}"]\n`);
  const server = await place.serve();
  const person = await browser.person();
  const page = await enter(person, server.url);
  await begin(page);
  check(await page.locator("[data-tainted]").count() === 0, "nothing came in yet");
  await say(page, "Compute.");
  await page.waitForSelector(".card.open [data-act=run]");
  await act(page, "run", ".card.open");
  await shows(page, ".entries", "It is there.");
  await state(page, "idle");

  // The output may be anybody's words, and the session says so from then on.
  await shows(page, ".entries", "The model was given outside text: output of code that has read something.");
  await shows(page, ".head [data-tainted]", "outside text");
  await accessible(page, "tainted");
  await picture(page, "tainted");

  const menu = async (name) => {
    await page.click(".head .menu > summary");
    await page.click(`.head [data-act=${name}]`);
  };
  await menu("again");
  await shows(page, ".entries", "Another way to say it.");
  await state(page, "idle");

  // Code that ran runs again, after one question about all of it.
  await menu("replay");
  await page.waitForSelector(".card.open .replayed");
  equal(await page.locator(".card.open .replayed").count(), 1, "the one cell");
  await shows(page, ".card.open", "x = 41");
  await accessible(page, "again");
  await act(page, "run", ".card.open");
  await shows(page, ".entries", "Earlier code runs again");
  await state(page, "idle");

  // Another model hears the same conversation; one that is not there changes nothing.
  await menu("switch");
  // Only what the server offers can be chosen: the fallback of its settings is, the model in use is not.
  await page.waitForSelector("[data-aside=model] [data-field=model]:enabled");
  const { offered } = await server.perform("look", { at: "models" });
  const names = await page.$$eval("[data-field=model] option", (all) => all.map((one) => one.value).filter((one) => one !== ""));
  equal(offered.filter((name) => !names.includes(name)), ["scripted:script.toml"], "offered, and not in the list");
  check(names.includes("scripted:other.toml"), `the fallback: ${names}`);
  equal(await page.locator("[data-aside=model] input").count(), 0, "fields to type into");
  check(await page.isDisabled("[data-act=switch-model]"), "nothing is chosen yet");
  await page.selectOption("[data-field=model]", "scripted:other.toml");
  await accessible(page, "switching");
  await picture(page, "switching");
  await rm(join(place.root, "other.toml"));
  await page.click("[data-act=switch-model]");
  await shows(page, ".entries", "the model stays as it was");
  await state(page, "idle");
  await writeFile(join(place.root, "other.toml"), '[[reply]]\ntext = "The other one."\n');
  await menu("switch");
  await page.selectOption("[data-field=model]", "scripted:other.toml");
  await page.click("[data-act=switch-model]");
  await page.waitForFunction(() => document.querySelector("[data-aside=model]") === null);
  await state(page, "idle");
  await say(page, "Who are you?");
  await shows(page, ".entries", "The other one.");
  await state(page, "idle");

  await menu("forget");
  await shows(page, ".entries", "your last prompt and everything after it are removed");
  equal(browser.complaints, [], "complaints of the page");
});
