// DNS rebinding in a real browser: the name of an attacker's page leads to the server, on the port
// from which the page came. The page then reads nothing, not even with every secret of a person who is
// logged in beside it. The same attack succeeds at the attacker's own server, and the same requests
// succeed under the server's own name.

import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { begin, check, enter, equal, say, state, story } from "./scene.mjs";

/** An ordinary name: the browser sends no `Sec-Fetch-Site` to it, so only the `Host` tells it apart. */
const PLAIN = "evil.example";
/** A name that the browser takes for secure: its page may have a service worker. */
const SECURE = "worker.example";
const CANARY = "canary-of-the-session";
const BAIT = "bait-of-the-attacker";
const WINDOWS = [["/", "GET"], ["/v1/do", "POST"]];

/** Runs in a page: sends requests to its own origin, and returns the answers. */
async function ask({ requests, protocols }) {
  const found = [];
  for (const [path, options] of requests) {
    const reply = await fetch(path, { cache: "no-store", ...options });
    found.push([path, reply.status, await reply.text()]);
  }
  const socket = await new Promise((done) => {
    const one = new WebSocket("/v1/socket", protocols);
    one.onopen = () => one.send(JSON.stringify({ id: 1, do: "list" }));
    one.onmessage = ({ data }) => {
      if (!data.includes('"id":1')) return;
      one.onclose = null;
      one.close();
      done(data);
    };
    one.onclose = () => done("failed");
  });
  return { found, socket };
}

/** Runs in a page: every other way to read something at an origin without leaving the page. */
async function reach({ session, origin }) {
  const found = {};
  const tried = async (name, way) => {
    found[name] = await Promise.resolve().then(way).catch((problem) => `failed: ${problem.name}`);
  };
  const loaded = (element) => new Promise((done, failed) => {
    element.onload = done;
    element.onerror = () => failed(new Error());
    document.body.append(element);
  });
  const make = (tag, fields) => Object.assign(document.createElement(tag), fields);
  const text = (frame) => frame.contentDocument.documentElement.textContent;
  const heard = (one) => new Promise((done, failed) => {
    one.onmessage = ({ data }) => done(data);
    one.onerror = () => failed(new Error());
  }).finally(() => (one.close ?? one.terminate).call(one));
  await tried("request", () => new Promise((done, failed) => {
    const one = new XMLHttpRequest();
    one.open("GET", `${origin}/v1/sessions`);
    one.withCredentials = true;
    one.onload = () => (one.status === 200 ? done(one.responseText) : failed(new Error()));
    one.onerror = () => failed(new Error());
    one.send();
  }));
  await tried("frame", async () => {
    const frame = make("iframe", { src: `${origin}/` });
    await loaded(frame);
    return text(frame);
  });
  await tried("picture", () => loaded(make("img", { src: `${origin}/icon.svg` })).then(() => "loaded"));
  await tried("script", () => loaded(make("script", { src: `${origin}/theme.js` })).then(() => "loaded"));
  await tried("style", () => loaded(make("link", { rel: "stylesheet", href: `${origin}/page.css` })).then(() => "loaded"));
  // The browser never fetches a module twice, so the address is another each time.
  await tried("module", () => import(`${origin}/page.js?${performance.now()}`).then(() => "loaded"));
  await tried("events", () => heard(new EventSource(`${origin}/v1/sessions/${session}/records`, { withCredentials: true })));
  await tried("worker", () => heard(new Worker(`${origin}/page.js`)));
  await tried("fetching worker", async () => {
    const code = `fetch(${JSON.stringify(`${origin}/v1/sessions`)}, { credentials: "include" }).then((reply) => reply.ok ? reply.text() : Promise.reject()).then(postMessage, () => postMessage("failed"))`;
    return heard(new Worker(URL.createObjectURL(new Blob([code]))));
  });
  await tried("service worker", async () => {
    await navigator.serviceWorker.register(`${origin}/page.js?${performance.now()}`, { scope: "/deeper/" });
    return "registered";
  });
  return found;
}

/** Runs in a page: has the service worker that came from the attacker fetch something. */
function askWorker(path) {
  return new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => done(data);
    void navigator.serviceWorker.ready.then(({ active }) => active.postMessage(path, [port2]));
  });
}

const WORKER = `addEventListener("message", ({ data, ports }) => fetch(data).then(async (reply) => ports[0].postMessage([reply.status, await reply.text()]), (problem) => ports[0].postMessage([0, problem.name])));`;

/** The attacker's server, at a free port. It has an answer for everything. */
async function attacker() {
  const answers = [
    [/^\/worker\.js$/, "text/javascript", WORKER],
    [/\.js(?:\?|$)/, "text/javascript", `globalThis.postMessage?.("${BAIT}")`],
    [/\.css$/, "text/css", ""],
    [/\.svg$/, "image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'],
    [/\/records$/, "text/event-stream", `data: ${BAIT}\n\n`],
    [/^\/v1\/do$/, "text/html", BAIT],
    [/^\/$/, "text/html", `<!doctype html><title>Attack</title><body>${BAIT}<script>${ask}\n${reach}\n${askWorker}</script>`],
    [/^/, "text/plain", BAIT],
  ];
  const server = createServer((request, reply) => {
    const [, kind, body] = answers.find(([path]) => path.test(request.url));
    reply.writeHead(200, { "content-type": kind, "cache-control": "no-store" }).end(body);
  });
  const sockets = new Set();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  server.on("upgrade", (request, socket) => {
    const accepted = createHash("sha1").update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accepted}\r\nSec-WebSocket-Protocol: interpreter.v1\r\n\r\n`);
    const text = Buffer.from(JSON.stringify({ id: 1, ok: BAIT }));
    socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    port: server.address().port,
    close: () => new Promise((done) => {
      server.close(done);
      for (const socket of sockets) socket.destroy();
    }),
  };
}

/** What a page asks for: as somebody who knows nothing, or with secrets. */
function requestsOf({ session = "0".repeat(32), key, token, code = "A".repeat(43) } = {}) {
  const shows = (word, secret) => (secret === undefined ? {} : { Authorization: `${word} ${secret}` });
  const post = (path, body, headers) => [path, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) }];
  const paths = ["/", "/page.js", "/healthz", "/v1/login", "/v1/sessions", `/v1/sessions/${session}`, `/v1/sessions/${session}/changes`, "/v1/questions", "/v1/models", "/v1/openapi.json", "/metrics"];
  return [
    ...paths.map((path) => [path, { headers: shows("Key", key) }]),
    post("/v1/do", { id: 1, do: "list" }, shows("Key", key)),
    post("/v1/do", { id: 1, do: "list" }, shows("Bearer", token)),
    post("/v1/login", { code }, {}),
  ];
}

const protocolsOf = (key = "none") => ["interpreter.v1", `key.${Buffer.from(key).toString("base64url")}`];

/** Asserts that an answer is the refusal and nothing more. */
function refused(status, text, where) {
  equal(status, 421, `the status of ${where}`);
  check(text.length < 200 && /"(?:code|reason)":"other_host"/.test(text), `${where} says ${text}`);
}

/** How many requests a server has refused. */
async function refusals(server) {
  const reply = await fetch(`${server.origin}/metrics`, { headers: { authorization: `Bearer ${server.token}` } });
  const counts = [...(await reply.text()).matchAll(/^interpreter_requests_total\{.*status="4xx"\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Notes the answers that a page gets from an origin, and why its sockets failed. */
function watched(page, origin) {
  const seen = { answers: [], sockets: [] };
  page.on("response", (response) => {
    if (response.url().startsWith(`${origin}/`)) seen.answers.push(response);
  });
  page.on("websocket", (socket) => {
    if (new URL(socket.url()).host === new URL(origin).host) socket.on("socketerror", (problem) => seen.sockets.push(problem));
  });
  return seen;
}

/** Opens a window from a page, by an address or a form, and reads it from there. */
async function readsWindow(page, url, method) {
  const [opened] = await Promise.all([
    page.waitForEvent("popup"),
    page.evaluate(() => {
      // Another name each time: a window that is just being closed would be taken again.
      globalThis.opened = open("about:blank", `opened-${performance.now()}`);
    }),
  ]);
  const [answer] = await Promise.all([
    opened.waitForResponse((response) => response.url() === url && response.request().isNavigationRequest()),
    page.evaluate(([url, method]) => {
      if (method === "GET") {
        globalThis.opened.location = url;
        return;
      }
      const form = Object.assign(document.createElement("form"), { method, action: url, target: globalThis.opened.name, enctype: "text/plain" });
      form.append(Object.assign(document.createElement("input"), { name: '{"id":1,"do":"list","x":"', value: '"}' }));
      document.body.append(form);
      form.submit();
    }, [url, method]),
  ]);
  await answer.finished();
  await opened.waitForURL(url);
  const text = await page.evaluate(() => {
    try {
      return globalThis.opened.document.documentElement.textContent;
    } catch (problem) {
      return `failed: ${problem.name}`;
    }
  });
  await opened.close();
  return [answer.status(), text];
}

/** The control: at the attacker's own server every way leads to something. */
async function reachesItsOwn(page, isSecure) {
  const { found, socket } = await page.evaluate((all) => globalThis.ask(all), { requests: requestsOf(), protocols: protocolsOf() });
  for (const [path, status, text] of found) check(status === 200 && text !== "", `the control of ${path}: ${status}`);
  check(socket.includes(BAIT), `the control of the socket: ${socket}`);
  const ways = await page.evaluate((all) => globalThis.reach(all), { session: "s", origin: new URL(page.url()).origin });
  const failed = Object.entries(ways).filter(([, got]) => got.startsWith("failed")).map(([name]) => name);
  equal(failed, isSecure ? [] : ["service worker"], "the ways that the control does not have");
  for (const name of ["request", "frame", "events", "worker", "fetching worker"]) check(ways[name].includes(BAIT), `the control of ${name}: ${ways[name]}`);
  for (const [path, method] of WINDOWS) {
    const [status, text] = await readsWindow(page, new URL(path, page.url()).href, method);
    check(status === 200 && text.includes(BAIT), `the control of a window: ${status} ${text}`);
  }
}

/** The attack, by the page that was loaded before its name led to the server. */
async function attacks(page, origin, { secrets, site }) {
  const seen = watched(page, origin);
  for (const shown of [{}, secrets]) {
    const requests = requestsOf(shown);
    const { found, socket } = await page.evaluate((all) => globalThis.ask(all), { requests, protocols: protocolsOf(shown.key) });
    equal(found.length, requests.length, "answers");
    for (const [path, status, text] of found) refused(status, text, path);
    equal(socket, "failed", "the socket");
  }
  const ways = await page.evaluate((all) => globalThis.reach(all), { session: secrets.session, origin });
  equal(Object.values(ways).filter((got) => !got.startsWith("failed")), [], JSON.stringify(ways));
  for (const [path, method] of WINDOWS) equal(await readsWindow(page, `${origin}${path}`, method), [421, "failed: SecurityError"], `a window with ${path}`);

  // The browser's own view: each answer is the refusal, and none sets or allows anything.
  check(seen.answers.length > 2 * requestsOf().length + 5, `${seen.answers.length} answers`);
  for (const one of seen.answers) {
    equal(one.status(), 421, `the status of ${one.url()}`);
    const headers = Object.keys(await one.allHeaders());
    equal(headers.filter((name) => /^(?:set-cookie|access-control-|etag|location)/.test(name)), [], `headers of ${one.url()}`);
  }
  equal(seen.sockets.map((problem) => /\b421\b/.test(problem)), [true, true], `sockets: ${seen.sockets}`);
  const posted = seen.answers.find((one) => one.url().endsWith("/v1/do")).request();
  const headers = await posted.allHeaders();
  equal([headers.host, headers.origin, headers["sec-fetch-site"]], [new URL(origin).host, origin, site], "it came by the attacker's name");
}

/** From the attacker's name to the server's own: another origin, which is refused as such. */
async function attacksAcross(page, server, session) {
  const seen = watched(page, server.origin);
  const before = await refusals(server);
  const ways = await page.evaluate((all) => globalThis.reach(all), { session, origin: server.origin });
  equal(Object.values(ways).filter((got) => !got.startsWith("failed")), [], JSON.stringify(ways));
  const blind = await page.evaluate(async (origin) => {
    const reply = await fetch(`${origin}/v1/do`, { method: "POST", mode: "no-cors", credentials: "include", body: '{"id":1,"do":"list"}' });
    return [reply.type, await reply.text()];
  }, server.origin).catch((problem) => [String(problem), ""]);
  equal(blind[1], "", `a request without CORS: ${blind}`);
  const socket = await page.evaluate((url) => new Promise((done) => {
    const one = new WebSocket(url, ["interpreter.v1"]);
    one.onopen = () => done("open");
    one.onerror = () => done("failed");
  }), `${server.origin.replace("http", "ws")}/v1/socket`);
  equal(socket, "failed", "a socket to another origin");
  equal(await readsWindow(page, `${server.origin}/v1/do`, "POST"), [403, "failed: SecurityError"], "a window with a form");
  // The browser keeps most answers from itself, too; the server has refused them all the same.
  const count = (await refusals(server)) - before;
  check(count > 6, `${count} requests of another origin were refused`);
  check(seen.answers.length > 0, "the browser saw no answer");
  for (const one of seen.answers) {
    equal(one.status(), 403, `the status of ${one.url()}`);
    const { cookie } = await one.request().allHeaders();
    equal(cookie, undefined, `the cookie for ${one.url()}`);
  }
  equal(seen.sockets.map((problem) => /\b403\b/.test(problem)), [true], `sockets: ${seen.sockets}`);
}

const attacking = await attacker();
const { port } = attacking;
const [plain, secure] = [PLAIN, SECURE].map((name) => `http://${name}:${port}`);

await story("rebinding", async (browser, scene) => {
  const person = await browser.person();
  const pages = {};
  for (const origin of [plain, secure]) {
    pages[origin] = await person.newPage();
    await pages[origin].goto(`${origin}/`);
    equal(await pages[origin].title(), "Attack", "the attacker's page");
  }
  await pages[secure].evaluate(() => navigator.serviceWorker.register("/worker.js"));
  equal(await pages[secure].evaluate((path) => globalThis.askWorker(path), "/v1/sessions"), [200, BAIT], "the control of the service worker");
  for (const origin of [plain, secure]) await reachesItsOwn(pages[origin], origin === secure);

  // The name leads elsewhere: the server stands where the attacker's stood.
  await attacking.close();
  const place = await scene([{ text: "Noted." }]);
  const server = await place.serve([], port);
  equal(server.origin, `http://127.0.0.1:${port}`, "the port of the page");

  // Somebody is logged in, in the same profile, with a session that is worth reading.
  const own = await enter(person, server.url);
  const session = await begin(own);
  await say(own, `Remember ${CANARY}.`);
  await state(own, "idle");
  const key = await own.evaluate(() => localStorage.getItem("interpreter.key"));
  const [cookie] = await person.cookies(server.origin);
  const secrets = { session, key, token: server.token };
  const before = await server.perform("list");

  for (const [origin, site] of [[plain, undefined], [secure, "same-origin"]]) {
    const page = pages[origin];
    equal(await page.evaluate(() => [document.cookie, localStorage.length]), ["", 0], `what the person has at ${origin}`);
    // With a secret that nothing but a fault elsewhere would give away, it is the same.
    await page.evaluate(({ name, value }) => {
      document.cookie = `${name}=${value}`;
    }, cookie);
    const link = await server.link();
    await attacks(page, origin, { secrets: { ...secrets, code: new URL(link).hash.slice(1) }, site });
    await attacksAcross(page, server, session);

    // The code of the link bought nothing, and was not spent.
    const tab = await person.newPage();
    const reply = await tab.goto(`${origin}/${new URL(link).hash}`);
    if (origin === plain) refused(reply.status(), await reply.text(), "the link under another name");
    equal(await tab.evaluate(() => document.querySelectorAll("script, .app, .welcome").length), 0, "elements of the page");
    await tab.close();
    const another = await browser.person();
    await enter(another, link);
    await another.close();
  }

  // The attacker's service worker is still there, and reaches as little.
  for (const path of ["/", "/v1/sessions", "/v1/login"]) {
    const [status, text] = await pages[secure].evaluate((path) => globalThis.askWorker(path), path);
    refused(status, text, `${path} for the service worker`);
  }
  equal(await own.evaluate(async () => [navigator.serviceWorker.controller, (await navigator.serviceWorker.getRegistrations()).length]), [null, 0], "service workers of the server's origin");

  // A name that only looks like the server's.
  for (const name of ["127.0.0.1.evil.example", "localhost.evil.example", "localhost.example"]) {
    const tab = await person.newPage();
    const reply = await tab.goto(`http://${name}:${port}/`);
    refused(reply.status(), await reply.text(), name);
    await tab.close();
  }

  // The control: under the server's own name, the same requests succeed.
  const requests = requestsOf(secrets).slice(0, -1);
  const { found, socket } = await own.evaluate(ask, { requests, protocols: protocolsOf(key) });
  equal(found.map(([path, status]) => [path, status]), requests.map(([path]) => [path, 200]), "the control");
  for (const path of ["/v1/sessions", `/v1/sessions/${session}`, "/v1/do"]) {
    for (const [, , text] of found.filter(([asked]) => asked === path)) check(text.includes(CANARY), `the control of ${path}: ${text}`);
  }
  check(socket.includes(CANARY), `the control of the socket: ${socket}`);
  equal((await (await person.newPage()).goto(`http://localhost:${port}/`)).status(), 200, "the server's other name");

  // Nothing happened to the sessions, and the person's page never noticed.
  equal((await server.perform("list")).sessions.map((one) => [one.session, one.seq]), before.sessions.map((one) => [one.session, one.seq]), "the sessions");
  check(await own.isVisible("#composer") && !(await own.isVisible(".lost")), "the person's page");
}, ["--host-resolver-rules=MAP *.example 127.0.0.1", `--unsafely-treat-insecure-origin-as-secure=${secure}`]);
await attacking.close();
