// A chat with a model that runs in the program, from a prompt on the page: words come while it writes,
// and the view of the models names it. The weights are those of a tiny model, which writes little sense.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { begin, check, enter, equal, interpreter, picture, say, state, story, without } from "./scene.mjs";

const MODEL = process.env.MODEL ?? "embedded/smollm2-135m";
const weights = resolve(process.env.WEIGHTS ?? "../../../target/test-tools/models/SmolLM2-135M-Instruct.Q4_1.gguf");

if (!existsSync(weights)) {
  without("embedded", weights);
} else {
  await story("embedded", async (browser, scene) => {
    const place = await scene([]);
    const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: place.home, TERM: "xterm", LANG: "C.UTF-8" };
    await promisify(execFile)(interpreter, ["model", "pull", MODEL, "--offline", "--from", weights], { cwd: place.work, env: environment });
    await writeFile(join(place.home, ".config/interpreter/config.toml"), `model = "${MODEL}"\nmax_tokens = 64\n`);

    const server = await place.serve();
    const person = await browser.person();
    const page = await enter(person, server.url);
    await begin(page);
    await say(page, process.env.PROMPT ?? "Say hello.");
    await page.waitForFunction(() => (document.querySelector(".reply")?.textContent ?? "").trim() !== "");
    await picture(page, "embedded-writes");
    // Whatever it writes, code is never run unasked: the turn ends, or waits for the person.
    await Promise.race([state(page, "idle"), state(page, "asking")]);
    equal(await page.locator("[data-cell] .output").count(), 0, "nothing ran");
    await picture(page, "embedded-done");

    await page.click(".side-link[href='#/models']");
    await page.waitForFunction((name) => document.querySelector("main")?.textContent.includes(name) === true, MODEL.split("/")[1]);
    await picture(page, "embedded-models");
    check(browser.complaints.length === 0, browser.complaints.join("\n"));
  });
}
