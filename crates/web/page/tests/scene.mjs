// A scene for tests of the page: a home, a work folder, a model's script, the real server and
// Debian's Chromium. Everything waits on conditions, with one generous patience.

import { chromium } from "playwright-core";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../../../..");
export const dist = resolve(here, "../dist");
/** How long anything may take on a busy machine. */
export const PATIENCE = Number(process.env.PATIENCE ?? 120_000);

export const interpreter = resolve(process.env.INTERPRETER ?? join(root, "target/debug/interpreter"));

export function check(isTrue, words) {
  if (!isTrue) throw new Error(words);
}

export function equal(one, other, words) {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  if (left !== right) throw new Error(`${words}\n  ${left}\n  ${right}`);
}

/** Says that a tool is not here, so that a story is not told. That fails where every tool is promised. */
export function without(name, tool) {
  const promised = (process.env.INTERPRETER_ALL_TOOLS ?? "") !== "";
  if (promised) {
    console.error(`${name}: FAILED: ${tool} is not here, and INTERPRETER_ALL_TOOLS promises that it is`);
    process.exitCode = 1;
  } else console.log(`${name}: not tried: ${tool} is not here; \`scripts/test\` installs it`);
}

/** A home and a work folder, which go with the scene. */
export class Scene {
  static async make(replies, files = {}) {
    const scene = new Scene();
    scene.root = await mkdtemp(join(tmpdir(), "page-"));
    scene.home = join(scene.root, "home");
    scene.work = join(scene.root, "work");
    await mkdir(join(scene.home, ".config/interpreter"), { recursive: true });
    await mkdir(scene.work);
    const script = join(scene.root, "script.toml");
    await writeFile(script, replies.map(toml).join("\n"));
    await writeFile(join(scene.home, ".config/interpreter/config.toml"), `model = ${JSON.stringify(`scripted:${script}`)}\n`);
    for (const [name, content] of Object.entries(files)) await writeFile(join(scene.work, name), content);
    scene.servers = [];
    scene.variables = {};
    return scene;
  }

  /** Starts a server, at a free port unless told otherwise, and waits until it says where it is. */
  async serve(more = [], port = 0) {
    const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: this.home, TERM: "xterm", LANG: "C.UTF-8", ...this.variables };
    const child = spawn(interpreter, ["serve", "--no-open", "--port", String(port), "--json", ...more], { cwd: this.work, env: environment, stdio: ["ignore", "pipe", "pipe"] });
    const server = new Server(child);
    this.servers.push(server);
    await server.next();
    return server;
  }

  /** Runs a command of the program. */
  async run(words, input = "") {
    const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: this.home, TERM: "xterm", LANG: "C.UTF-8" };
    const child = spawn(interpreter, words, { cwd: this.work, env: environment, stdio: ["pipe", "inherit", "inherit"] });
    child.stdin.end(input);
    const code = await new Promise((done) => child.on("exit", done));
    check(code === 0, `${words.join(" ")} ended with ${code}`);
  }

  async close() {
    for (const server of this.servers) await server.end("SIGTERM");
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** One value of a script, as TOML. */
function toml(reply) {
  const value = (one) => (typeof one === "object" ? `{ ${Object.entries(one).map(([name, inner]) => `${name} = ${value(inner)}`).join(", ")} }` : escaped(one));
  return `[[reply]]\n${Object.entries(reply).map(([name, one]) => `${name} = ${value(one)}`).join("\n")}\n`;
}

/** JSON's escapes are TOML's, but for characters that JSON leaves as they are. */
function escaped(one) {
  return JSON.stringify(one).replace(/[\u007f-\u009f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

class Server {
  constructor(child) {
    this.child = child;
    this.errors = "";
    this.lines = [];
    this.waiting = [];
    this.ended = new Promise((done) => child.on("exit", done));
    child.stderr.on("data", (data) => {
      this.errors = (this.errors + data).slice(-20_000);
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      const waiting = this.waiting.shift();
      if (waiting === undefined) this.lines.push(line);
      else waiting(line);
    });
  }

  /** The next link that the server prints. */
  async next() {
    const line = this.lines.shift() ?? await Promise.race([
      new Promise((found) => this.waiting.push(found)),
      this.ended.then(() => {
        throw new Error(`the server ended: ${this.errors}`);
      }),
    ]);
    const told = JSON.parse(line);
    this.url = told.url;
    this.token ??= told.token;
    this.origin = new URL(told.url).origin;
    return told.url;
  }

  /** A new link. */
  link() {
    this.child.kill("SIGUSR1");
    return this.next();
  }

  async end(signal) {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    await this.ended;
  }

  /** One request of the protocol, as a program makes it. */
  async perform(verb, fields = {}) {
    const reply = await fetch(`${this.origin}/v1/do`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.token}` },
      body: JSON.stringify({ id: 1, do: verb, ...fields }),
    });
    const body = await reply.json();
    if (body.ok === undefined) throw new Error(`${verb}: ${JSON.stringify(body)}`);
    return body.ok;
  }
}

/** The browser, and everything that pages of it complain about. */
export class Browser {
  static async start(more = []) {
    const browser = new Browser();
    const path = process.env.CHROMIUM ?? "/usr/bin/chromium";
    check(existsSync(path), `there is no ${path}`);
    browser.inner = await chromium.launch({ executablePath: path, args: ["--no-sandbox", "--disable-dev-shm-usage", ...more] });
    browser.complaints = [];
    browser.requests = [];
    return browser;
  }

  /** A person's browser, apart from the others. */
  async person(options = {}) {
    const context = await this.inner.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(PATIENCE);
    context.on("request", (request) => this.requests.push(request.url()));
    // What the page's policy refuses, Trusted Types among it, is a fault of the page.
    await context.addInitScript(() => addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));
    context.on("weberror", (problem) => this.complaints.push(String(problem.error())));
    context.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
    });
    // Shows the built page without building the program: for work on the page only.
    if (process.env.PAGE_DIST !== undefined) {
      await context.route(/\/[a-z]+\.(?:js|css|svg)$/, async (route) => {
        const name = new URL(route.request().url()).pathname.slice(1);
        const reply = await route.fetch({ url: new URL("/", route.request().url()).href });
        const types = { js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
        await route.fulfill({ status: 200, headers: { ...reply.headers(), "content-type": types[name.split(".").pop()] }, body: await readFile(join(dist, name)) });
      });
    }
    return context;
  }

  async close() {
    await this.inner.close();
  }
}

/** Opens the link in a tab and waits until the person is in. */
export async function enter(person, url) {
  const page = await person.newPage();
  await page.goto(url);
  await page.waitForSelector(".app");
  await page.waitForFunction(() => !document.querySelector(".lost"));
  return page;
}

/** Begins a session from the first page. */
export async function begin(page) {
  await page.click(".side-link[href='#/']");
  await page.click("[data-act=open]");
  await page.waitForSelector("#composer");
  return page.evaluate(() => decodeURIComponent(location.hash.slice("#/s/".length)));
}

export async function say(page, words) {
  await page.fill("#composer", words);
  await page.press("#composer", "Enter");
}

/** Clicks or taps a button of a card, again if the card was not ready yet. */
export async function act(page, name, within = "", by = "click") {
  // A person acts on the tab that is in front; others are drawn rarely.
  await page.bringToFront();
  const button = page.locator(`${within} [data-act="${name}"]`).first();
  await button.waitFor();
  for (const until = Date.now() + PATIENCE; Date.now() < until;) {
    await button[by]();
    const isTaken = await page.evaluate((selector) => {
      const found = document.querySelector(selector);
      const taken = found?.dataset.taken ?? "yes";
      if (found !== null) delete found.dataset.taken;
      return taken === "yes";
    }, `${within} [data-act="${name}"]`);
    if (isTaken) return;
  }
  throw new Error(`${name} was never taken`);
}

/** Everything that the conversation shows. */
export function shown(page) {
  return page.evaluate(() => [...document.querySelectorAll(".column > *")].map((element) => element.textContent));
}

/** The colours of a picture of the screen, and how often each is there. */
export async function colours(page, selector) {
  return coloursOf(page, await page.locator(selector).first().screenshot());
}

export function coloursOf(page, shot) {
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const counts = {};
    for (let at = 0; at < data.length; at += 4) {
      const name = `${data[at]},${data[at + 1]},${data[at + 2]}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }, shot.toString("base64"));
}

export function state(page, word) {
  return page.waitForSelector(`.head .state-${word}`);
}

/** Runs a test, with a scene's end whatever happens. `flags` are more ones of Chromium. */
export async function story(name, tell, flags = []) {
  const browser = await Browser.start(flags);
  const scenes = [];
  try {
    await tell(browser, async (...all) => {
      const scene = await Scene.make(...all);
      scenes.push(scene);
      return scene;
    });
    console.log(`${name}: ok`);
  } catch (problem) {
    console.error(`${name}: FAILED: ${problem.stack}`);
    for (const one of scenes) for (const server of one.servers) console.error(`  the server (${server.child.exitCode ?? server.child.signalCode ?? "runs"}) said: ${server.errors.slice(-2000)}`);
    const pages = browser.inner.contexts().flatMap((context) => context.pages());
    for (const [at, page] of pages.entries()) {
      await page.screenshot({ path: join(tmpdir(), `page-failed-${name}-${at}.png`) }).catch(() => undefined);
    }
    for (const complaint of browser.complaints.slice(-20)) console.error(`  the page said: ${complaint}`);
    process.exitCode = 1;
  } finally {
    await browser.close();
    for (const one of scenes) await one.close();
  }
}

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const into = process.env.LOOK;
if (into !== undefined) await mkdir(into, { recursive: true });

/** Leaves a picture to be looked at, with LOOK=FOLDER. */
export async function picture(page, name) {
  if (into !== undefined) await page.screenshot({ path: join(into, `${name}.png`) });
}

/** The width of a small phone, and of an ordinary page at 400 %. */
const NARROW = 320;
const GROUNDS = { light: "rgb(246, 245, 242)", dark: "rgb(22, 21, 19)" };

/** Shows the page in a colour scheme: the system's, and the one that the person chose, if any. */
async function wear(page, scheme, chosen) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.evaluate((chosen) => {
    if (chosen !== undefined) document.documentElement.dataset.theme = chosen;
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }, chosen);
}

/**
 * Asserts that axe finds nothing in a view and that nothing is wider than the page: in light and dark,
 * at its width and at 320 pixels. The view is afterwards as it was. Leaves a picture of each look.
 */
export async function accessible(page, where) {
  const size = page.viewportSize();
  const { scheme, chosen } = await page.evaluate(() => ({
    scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    chosen: document.documentElement.dataset.theme,
  }));
  // Its script goes in by the debugger, which the page's policy does not bind.
  if (await page.evaluate(() => globalThis.axe === undefined)) await page.evaluate(axe);
  for (const width of new Set([size.width, NARROW])) {
    if (width !== size.width) await page.setViewportSize({ width, height: 640 });
    for (const [shade, ground] of Object.entries(GROUNDS)) {
      const look = `${where}, ${width === NARROW ? "narrow" : "wide"} and ${shade}`;
      await wear(page, shade, chosen === undefined ? undefined : shade);
      equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), ground, `the ground, ${look}`);
      equal(await page.evaluate(() => document.documentElement.scrollWidth), width, `nothing is wider than the page, ${look}`);
      const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
      equal(found.violations.map((one) => [one.id, one.nodes.slice(0, 3).map((node) => [node.target, node.failureSummary])]), [], `axe, ${look}`);
      await picture(page, look.replace(/[^a-z]+/g, "-"));
    }
  }
  await page.setViewportSize(size);
  await wear(page, scheme, chosen);
}
