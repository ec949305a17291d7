// Rich results as a person sees them: a table of 100,000 rows, charts, formulas, a drawing and a page,
// in light, dark and narrow; nothing of them runs, and nothing is fetched from elsewhere.

import { accessible, begin, check, colours, enter, equal, picture, state, story } from "./scene.mjs";

const CODE = [
  `rows = ["number,rest"] + [f"{i},{i % 7}" for i in range(100_000)]
display({"text/plain": "100000 rows", "text/csv": "\\n".join(rows)}, raw=True)`,
  `import json, math
months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]
fig = {"data": [{"type": "bar", "name": "North", "x": months, "y": [12, 19, 3, 5, 2, 13]}, {"type": "bar", "name": "South", "x": months, "y": [7, 11, 5, 8, 3, 7]}], "layout": {"title": {"text": "Sales by month"}, "xaxis": {"title": {"text": "Month"}}, "yaxis": {"title": {"text": "Pieces"}}, "barmode": "group"}}
display({"text/plain": "Figure", "text/html": "<script>fetch('http://attack.invalid/')</script>", "application/vnd.plotly.v1+json": json.dumps(fig)}, raw=True)
spec = {"title": "Waves", "data": {"name": "d"}, "datasets": {"d": [{"x": i / 10, "y": math.sin(i / 10 + p), "wave": f"wave {p}"} for i in range(100) for p in range(3)]}, "mark": {"type": "line"}, "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}, "color": {"field": "wave", "type": "nominal"}}}
display({"text/plain": "Chart", "application/vnd.vegalite.v5+json": json.dumps(spec)}, raw=True)
display({"text/plain": "Chart", "application/vnd.vegalite.v5+json": json.dumps({**spec, "mark": "arc"})}, raw=True)`,
  `class Formula:
    def __init__(self, text): self.text = text
    def _repr_latex_(self): return self.text
display(Formula(r"$$\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2} \\qquad \\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix} \\quad \\sum_{n=1}^{\\infty} \\frac{1}{n^2} = \\frac{\\pi^2}{6}$$"))
display(Formula(r"\\href{javascript:alert(1)}{x}"))
class Drawing:
    def _repr_svg_(self): return '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="80"><rect width="240" height="80" fill="#0f766e"/><circle cx="120" cy="40" r="30" fill="#fff"/></svg>'
class Page:
    def _repr_html_(self): return "<table border=1><thead><tr><th>a</th><th>b</th></tr></thead>" + "".join(f"<tr><td>{i}</td><td>{i * i}</td></tr>" for i in range(8)) + "</table>"
display(Drawing()); display(Page())`,
  `def figure(data, layout={}, html="<script>fetch('http://attack.invalid/')</script>"):
    display({"text/plain": "Figure", "text/html": html, "application/vnd.plotly.v1+json": json.dumps({"data": data, "layout": layout})}, raw=True)
figure([{"type": "pie", "labels": ["Rent", "Food", "Travel", "Other"], "values": [900, 450, 250, 120], "hole": 0.4}], {"title": {"text": "Costs"}})
figure([{"type": "histogram", "x": [((i * 7919) % 1000 + (i * 104729) % 1000) / 20 for i in range(800)]}], {"title": {"text": "Ages"}, "xaxis": {"title": {"text": "Years"}}})
figure([{"type": "heatmap", "x": ["a", "b", "c"], "y": ["a", "b", "c"], "z": [[1, 0.4, -0.8], [0.4, 1, None], [-0.8, 0, 1]]}], {"title": {"text": "Correlation"}, "yaxis": {"autorange": "reversed"}})
figure([{"type": "bar", "orientation": "h", "x": [3, 5], "y": ["A long name of a product", "B"]}, {"type": "bar", "orientation": "h", "x": [1, 2], "y": ["A long name of a product", "B"]}], {"barmode": "stack"})
figure([{"type": "scatter3d", "x": [1, 2], "y": [3, 4], "z": [5, 6]}], {"title": {"text": "Deep"}})
figure([{"type": "strange"}], {}, "<p>Sales were <b>good</b></p>")`,
];

await story("rich", async (browser, scene) => {
  const place = await scene([{ text: "Fine." }]);
  const server = await place.serve();
  const person = await browser.person();
  const page = await enter(person, server.url);
  const session = await begin(page);
  await state(page, "idle");
  const run = async (at) => {
    await server.perform("run", { session, language: "python", code: CODE[at] });
    await page.waitForFunction((cell) => document.querySelector(`[data-cell=${cell}] .outcome`) !== null, `p${at + 1}`);
    await state(page, "idle");
    check((await page.textContent(`[data-cell=p${at + 1}] .outcome`)).startsWith("Done"), `cell ${at + 1} failed`);
  };

  // Only the rows in sight are there, and the last ones are as near as the first.
  await run(0);
  const box = page.locator("[data-cell=p1] .table-box");
  await box.waitFor();
  equal(await page.locator("[data-cell=p1] table").getAttribute("aria-rowcount"), "100001", "the rows that a reader is told");
  check(await page.locator("[data-cell=p1] tbody tr").count() < 100, "all rows were made");
  await box.evaluate((element) => element.scrollTop = element.scrollHeight);
  await page.waitForFunction(() => document.querySelector("[data-cell=p1] .table-box").textContent.includes("99999"));
  check(await page.locator("[data-cell=p1] tbody tr").count() < 100, "rows that were left are still there");
  const frames = await box.evaluate(async (element) => {
    const from = performance.now();
    for (let at = 0; at < 30; at += 1) {
      element.scrollTop = (element.scrollHeight / 30) * at;
      await new Promise((done) => requestAnimationFrame(done));
    }
    return (performance.now() - from) / 30;
  });
  console.log(`  a jump in a table of 100,000 rows takes ${frames.toFixed(1)} ms`);
  await accessible(page, "a long table");

  // Charts have the page's colours, and one that is not known is shown as its values.
  await run(1);
  const charts = page.locator("[data-cell=p2] .drawing");
  equal(await charts.count(), 2, "charts");
  equal(await page.locator("[data-cell=p2] .data-table").count(), 1, "the chart that is not drawn is a table");
  const seen = await colours(page, "[data-cell=p2] .drawing");
  check((seen["15,118,110"] ?? 0) > 1000 && (seen["194,87,26"] ?? 0) > 1000, "the bars are not drawn");
  equal(await page.locator("[data-cell=p2] iframe").count(), 0, "the page of a script");
  await picture(page, "rich-2-charts");
  await page.locator("[data-cell=p2] .forms >> text=Values").first().click();
  await page.waitForFunction(() => document.querySelectorAll("[data-cell=p2] .data-table").length === 2);
  check((await page.locator("[data-cell=p2] .data-table").first().textContent()).includes("North"), "the values of a chart");
  await page.locator("[data-cell=p2] .forms >> text=Chart").first().click();
  await page.locator("[data-cell=p2] .chart").first().scrollIntoViewIfNeeded();
  await accessible(page, "charts");

  await run(2);
  equal(await page.locator("[data-cell=p3] math").count(), 1, "formulas that are set");
  check(await page.evaluate(() => document.querySelector("[data-cell=p3] mfrac").getBoundingClientRect().height > 10), "MathML is not laid out");
  check((await page.textContent("[data-cell=p3]")).includes("\\href{javascript:alert(1)}{x}"), "a formula that is not known is shown as it is");
  await page.locator("[data-cell=p3] img.picture").scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector("[data-cell=p3] img.picture")?.naturalWidth === 240);
  const drawn = await colours(page, "[data-cell=p3] img.picture");
  check((drawn["15,118,110"] ?? 0) > 5000, "the drawing is not drawn");
  await page.waitForSelector("[data-cell=p3] iframe");
  await accessible(page, "formulas");

  // Everyday charts are drawn, and what is not is a table with a line that says so, or the page that
  // says something; never a description alone.
  await run(3);
  const everyday = page.locator("[data-cell=p4] .rich");
  equal(await everyday.count(), 6, "figures");
  equal(await page.locator("[data-cell=p4] .drawing").count(), 4, "everyday charts");
  equal(await everyday.nth(0).locator("path.slice").count(), 4, "slices");
  check((await everyday.nth(0).textContent()).includes("52.3 %"), "the share of a slice");
  check((await everyday.nth(1).locator(".drawing").getAttribute("aria-label")).startsWith("Histogram: Ages. "), "a histogram says what it is");
  equal(await everyday.nth(2).locator(".cell-values text").allTextContents(), ["1", "0.4", "-0.8", "0.4", "1", "-0.8", "0", "1"], "the values of a heatmap");
  check((await everyday.nth(3).textContent()).includes("A long name of a product"), "the names of bars that lie");
  check((await everyday.nth(4).textContent()).includes("does not draw charts in three dimensions"), "the kind that is not drawn");
  equal(await everyday.nth(4).locator("tbody td").allTextContents(), ["1", "3", "5", "2", "4", "6"], "the values of what is not drawn");
  equal(await everyday.nth(5).locator("iframe").count(), 1, "the page is the only form that can be read");
  equal(await page.locator("[data-cell=p4] iframe").count(), 1, "pages of a script");
  for (const at of [0, 1, 2, 3]) {
    await everyday.nth(at).locator(".forms >> text=Values").click();
    await everyday.nth(at).locator(".data-table").waitFor();
    await everyday.nth(at).locator(".forms >> text=Chart").click();
    await everyday.nth(at).locator(".drawing").waitFor();
  }
  await everyday.nth(0).scrollIntoViewIfNeeded();
  await picture(page, "rich-4-pie");
  await everyday.nth(2).scrollIntoViewIfNeeded();
  await picture(page, "rich-4-heatmap");
  await accessible(page, "everyday charts");

  const foreign = browser.requests.filter((url) => !url.startsWith(server.origin) && !/^(?:data|blob|about):/.test(url));
  equal(foreign, [], "requests to somebody else");
  equal(browser.complaints, [], "complaints of the page");
});
