// People of a team log in through an OpenID Connect provider: the real npm `oidc-provider` in
// Chromium, and one that lies. Every attack has its control beside it.

import { existsSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { HostileProvider, cookieOf, listen, plain } from "./hostile-provider.mjs";
import { accessible, begin, check, enter, equal, interpreter, say, state, story, without } from "./scene.mjs";

const SECRET = "client-secret-canary-0123456789";
const PROVIDER = resolve(import.meta.dirname ?? ".", "../../../../target/test-tools/oidc-provider/node_modules/oidc-provider/lib/index.js");

/** Runs the program in a scene, with a text on its standard input. */
function run(place, args, input = "") {
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: place.home };
  const ended = spawnSync(interpreter, args, { cwd: place.work, env: environment, input, encoding: "utf8" });
  return { code: ended.status, text: ended.stdout + ended.stderr };
}

function must(place, args, input) {
  const { code, text } = run(place, args, input);
  equal(code, 0, `${args.join(" ")}: ${text}`);
  return text;
}

/** A scene whose settings name a provider. */
async function prepared(scene, issuer) {
  const place = await scene([{ text: "Good morning, Anna." }]);
  must(place, ["secret", "set", "LOGIN_SECRET"], SECRET);
  const settings = `[login]\nissuer = "${issuer}"\nclient = "interpreter"\nsecret = "LOGIN_SECRET"\nname = "Example"\n`;
  await appendFile(join(place.home, ".config/interpreter/config.toml"), settings);
  return place;
}

const add = (place, name, subject) => must(place, ["serve", "user", "add", name, "--role", "author", "--subject", subject]);

/** The number of a figure. */
async function figure(server, name) {
  const reply = await plain(`${server.origin}/metrics`, { headers: { authorization: `Bearer ${server.token}` } });
  return Number(new RegExp(`^interpreter_${name} (\\d+)$`, "m").exec(reply.text)?.[1]);
}

/** Logs in at the provider's own page. */
async function atProvider(page, login) {
  await page.fill("input[name=login]", login);
  await page.fill("input[name=password]", "any");
  await page.click("button[type=submit]");
  await page.click("form button[type=submit]:has-text('Continue')");
}

/** The address to which the provider sends a browser back that has logged in there, and the cookie of its way. */
async function returnOf(person, origin) {
  const begun = await plain(`${origin}/login/oidc`);
  const there = begun.headers.location;
  const cookies = await person.cookies(new URL(there).origin);
  const reply = await plain(there, { headers: { cookie: cookies.map((one) => `${one.name}=${one.value}`).join("; ") } });
  const url = reply.headers.location ?? "";
  check(url.startsWith(`${origin}/login/oidc/callback?`), `${reply.status} ${url} ${reply.text}`);
  return { url, cookie: cookieOf(begun), set: begun.headers["set-cookie"][0] };
}

const sends = (origin, code, cookie) => plain(`${origin}/v1/login`, { method: "POST", headers: cookie === undefined ? {} : { cookie }, body: JSON.stringify({ code }) });
const codeIn = (reply) => /^\/#([\w-]{43})$/.exec(reply.headers.location ?? "")?.[1];

/** Our own cookies: those of the provider are at the same host here, and cookies know no port. */
async function ours(person, server) {
  return (await person.cookies(server.origin)).filter((one) => one.name.startsWith("interpreter-"));
}

async function realProvider(browser, scene) {
  // It warns about everything that makes it quick to start.
  console.warn = console.info = () => undefined;
  const { default: Provider } = await import(PROVIDER);
  let serves = () => undefined;
  const { server: listening, origin: issuer } = await listen((asked, reply) => serves(asked, reply));
  const place = await prepared(scene, issuer);
  add(place, "anna", "anna-7");
  const server = await place.serve(["--team", "--log"]);
  const client = { client_id: "interpreter", client_secret: SECRET, redirect_uris: [`${server.origin}/login/oidc/callback`], grant_types: ["authorization_code"], response_types: ["code"] };
  serves = new Provider(issuer, { clients: [client], pkce: { required: () => true } }).callback();
  try {
    const anna = await logsInAndOut(browser, place, server);
    await strangerIsShownTheirName(browser, place, server);
    await attacksOnTheWay(anna, server);
    await removedAtOnce(anna, place, server);
    check(!server.errors.includes(SECRET) && !/code=|state=/.test(server.errors), "the log has a secret");
    check(server.errors.includes('"reason":"unknown_person"'), server.errors);
  } finally {
    listening.close();
    listening.closeAllConnections();
  }
}

async function logsInAndOut(browser, place, server) {
  const anna = await browser.person();
  const page = await anna.newPage();
  await page.goto(server.origin);
  await page.waitForSelector("[data-act=provider]");
  equal(await page.textContent("[data-act=provider]"), "Log in with Example", "the name of the provider");
  await accessible(page, "the ways to log in");
  await page.keyboard.press("Tab");
  equal(await page.evaluate(() => document.activeElement.dataset.act), "provider", "the keyboard reaches it");
  await page.keyboard.press("Enter");
  await atProvider(page, "anna-7");
  await page.waitForSelector(".app");
  check(new URL(page.url()).origin === server.origin && !/[\w-]{43}/.test(page.url()), page.url());
  const login = (await ours(anna, server)).find((one) => !one.name.endsWith("-login"));
  equal([login.httpOnly, login.sameSite], [true, "Strict"], "the cookie of the login");
  await begin(page);
  await say(page, "Good morning.");
  await page.waitForFunction(() => document.querySelector(".entries")?.textContent.includes("Good morning, Anna.") === true);
  await state(page, "idle");
  const key = await page.evaluate(() => localStorage.getItem("interpreter.key"));
  const headers = { authorization: `Key ${key}`, cookie: `${login.name}=${login.value}` };
  const list = () => plain(`${server.origin}/v1/do`, { method: "POST", headers, body: '{"id":1,"do":"list"}' });
  equal((await list()).status, 200, "the login is good");
  equal((await plain(`${server.origin}/v1/logout`, { method: "POST", headers, body: "{}" })).status, 200, "logout");
  equal((await list()).status, 401, "and over");
  await page.waitForSelector(".welcome");
  await page.close();
  return anna;
}

async function strangerIsShownTheirName(browser, place, server) {
  const person = await browser.person();
  const page = await person.newPage();
  await page.goto(server.origin);
  await page.click("[data-act=provider]");
  // Whatever they call themselves there, they are nobody here.
  await atProvider(page, "anna");
  await page.waitForSelector(".welcome code");
  equal(await page.textContent(".welcome code"), "anna", "their subject");
  await accessible(page, "the page of a stranger");
  equal(await ours(person, server), [], "no cookie is left");
  const taken = run(place, ["serve", "user", "add", "eve", "--role", "admin", "--subject", "anna-7"]);
  check(taken.code === 2 && taken.text.includes("somebody else"), taken.text);
  add(place, "ben", "anna");
  await page.click("a[href='/']");
  await page.click("[data-act=provider]");
  await page.waitForSelector(".app");
  await person.close();
}

async function attacksOnTheWay(anna, server) {
  const { origin } = server;
  const refused = async (url, cookie, reason) => {
    const reply = await plain(url, { headers: cookie === undefined ? {} : { cookie } });
    equal([reply.status, reply.headers.location], [403, undefined], `${reason}: ${reply.text}`);
  };

  // In another browser: without a cookie, or with one of its own. Nothing is spent by it.
  const one = await returnOf(anna, origin);
  check(/; Path=\/; Max-Age=660; HttpOnly; SameSite=Lax$/.test(one.set), "the cookie on the way");
  await refused(one.url, undefined, "no cookie");
  equal((await plain(one.url, { headers: { cookie: one.cookie } })).status, 303, "the browser that began");
  const other = cookieOf(await plain(`${origin}/login/oidc`));
  const two = await returnOf(anna, origin);
  await refused(two.url, other, "the cookie of another browser");

  // From another provider, or from one that does not say so although this one does.
  const three = await returnOf(anna, origin);
  await refused(three.url.replace(/iss=[^&]*/, "iss=https%3A%2F%2Fevil.example"), three.cookie, "another provider");
  const four = await returnOf(anna, origin);
  await refused(four.url.replace(/&iss=[^&]*/, ""), four.cookie, "no provider");

  // A stolen code in a login that somebody else began: PKCE.
  const victim = await returnOf(anna, origin);
  const thief = await plain(`${origin}/login/oidc`);
  const stolen = new URL(victim.url);
  stolen.searchParams.set("state", new URL(thief.headers.location).searchParams.get("state"));
  await refused(stolen.href, cookieOf(thief), "a stolen code");

  // Controls: the right one goes on, once, and always to the same place.
  const right = await returnOf(anna, origin);
  const reply = await plain(`${right.url}&next=https%3A%2F%2Fevil.example&return_to=//evil.example`, { headers: { cookie: right.cookie } });
  equal(reply.status, 303, reply.text);
  check(codeIn(reply) !== undefined, reply.headers.location);
  await refused(right.url, right.cookie, "the same once more");

  // The code for the page works in that browser only, and once.
  equal((await sends(origin, codeIn(reply))).status, 401, "a code in another browser");
  equal((await sends(origin, codeIn(reply), right.cookie)).status, 401, "and it is spent by that");
  const last = await returnOf(anna, origin);
  const good = codeIn(await plain(last.url, { headers: { cookie: last.cookie } }));
  equal((await sends(origin, good, last.cookie)).status, 200, "the control");
  equal((await sends(origin, good, last.cookie)).status, 401, "once");

  // A page of somebody else begins no login.
  for (const site of ["cross-site", "same-site"]) {
    const headers = { "sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    equal((await plain(`${origin}/login/oidc`, { headers })).status, 403, site);
  }
  check(await figure(server, "refused_logins_total") >= 7, "they are counted");
}

async function removedAtOnce(anna, place, server) {
  const page = await anna.newPage();
  await page.goto(server.origin);
  await page.click("[data-act=provider]");
  await page.waitForSelector(".app");
  must(place, ["serve", "user", "remove", "anna"]);
  await page.waitForSelector(".welcome");
  await page.click("[data-act=provider]");
  await page.waitForSelector(".welcome code");
  await page.close();
}

async function lies(_, scene) {
  const hostile = await HostileProvider.start();
  try {
    const place = await prepared(scene, hostile.issuer);
    add(place, "anna", "anna-7");
    for (const [field, value] of [["issuer", `${hostile.issuer}/`], ["token_endpoint", "http://10.0.0.1/token"], ["jwks_uri", "file:///etc/passwd"], ["authorization_endpoint", "javascript:alert(1)"]]) {
      // A server leaves a provider that failed alone for a while, so each lie is told to another one.
      const server = await place.serve(["--team", "--log"]);
      hostile.description = { [field]: value };
      for (const time of ["first", "again"]) equal((await hostile.login(server.origin)).status, 502, `${field}, ${time}`);
      check(server.errors.includes("provider_description"), `${field}: ${server.errors}`);
      await server.end("SIGTERM");
    }
    equal(hostile.asked.descriptions, 4, "each server asked once");
    hostile.description = {};
    const server = await place.serve(["--team", "--log"]);
    const first = await hostile.login(server.origin);
    equal(first.status, 303, `the control: ${first.text}`);
    equal([first.sent.get("code_challenge_method"), first.sent.get("response_type"), first.sent.get("scope")], ["S256", "code", "openid"], "what is asked");
    const modulus = hostile.rsa.publicKey.export({ type: "spki", format: "pem" });
    const redirected = (reply) => reply.writeHead(307, { location: hostile.canary.origin }).end();
    const endless = (reply) => reply.end(`{"id_token":"${"x".repeat(1 << 20)}"}`);
    for (const [reason, status, token] of [
      ["token_algorithm", 403, (nonce) => hostile.right(nonce, {}, { header: { alg: "none" }, key: null })],
      ["token_algorithm", 403, (nonce) => hostile.right(nonce, {}, { header: { alg: "HS256" }, mac: modulus })],
      ["token_signature", 403, (nonce) => hostile.right(nonce, {}, { key: hostile.other.privateKey })],
      ["token_key", 403, (nonce) => hostile.right(nonce, {}, { header: { kid: "2" }, key: hostile.other.privateKey })],
      ["token_key", 403, (nonce) => hostile.right(nonce, {}, { header: { kid: "3" }, key: hostile.other.privateKey })],
      ["token_issuer", 403, (nonce) => hostile.right(nonce, { iss: "https://other.example" })],
      ["token_audience", 403, (nonce) => hostile.right(nonce, { aud: "another" })],
      ["token_nonce", 403, () => hostile.right("another")],
      ["token_time", 403, (nonce) => hostile.right(nonce, { exp: 1_000_000_000 })],
      ["unknown_person", 403, (nonce) => hostile.right(nonce, { sub: "<b>x</b>", email: "anna@example.org", email_verified: true, preferred_username: "anna" })],
      ["code", 403, () => (reply) => reply.writeHead(400).end("{}")],
      ["code", 403, () => (reply) => reply.end("no JSON")],
      ["provider_unreachable", 502, () => redirected],
      ["provider_unreachable", 502, () => endless],
    ]) {
      hostile.token = token;
      const reply = await hostile.login(server.origin);
      equal([reply.status, reply.headers.location], [status, undefined], reason);
      check(!reply.text.includes("<b>"), "the subject is text");
    }
    equal(hostile.asked.canary, 0, "a redirect is not followed");
    // Once at first, and once for all keys that are not known.
    check(hostile.asked.keys <= 2, `the keys were asked for ${hostile.asked.keys} times`);
    hostile.token = (nonce) => hostile.right(nonce);
    equal((await hostile.login(server.origin)).status, 303, "the control again");
    // Twenty begin in a minute, and no more.
    let status = 303;
    for (let count = 0; count < 200 && status === 303; count += 1) ({ status } = await hostile.login(server.origin));
    equal(status, 429, "too many");
    check(server.errors.includes("token_algorithm"), server.errors);
    check(!server.errors.includes(SECRET) && !server.errors.includes("canary"), "the log has a secret");
  } finally {
    hostile.close();
  }
  // Without a provider there is no such place.
  const place = await scene([]);
  const server = await place.serve(["--team"]);
  equal((await plain(`${server.origin}/login/oidc`)).status, 404, "no provider");
  equal((await plain(`${server.origin}/login/oidc/callback?code=a&state=b`)).status, 404, "no provider");
}

if (existsSync(PROVIDER)) await story("provider", realProvider);
else without("provider", "oidc-provider");
await story("hostile provider", lies);
