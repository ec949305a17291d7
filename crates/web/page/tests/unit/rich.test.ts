import assert from "node:assert/strict";
import test from "node:test";
import { chartOf } from "../../src/rich/chart";
import { formula, type MathNode } from "../../src/rich/formula";
import { scales, stacked, ticks } from "../../src/rich/scale";
import { tableOf } from "../../src/rich/table";

const PLOTLY = "application/vnd.plotly.v1+json";
const VEGA = "application/vnd.vegalite.v5+json";

test("tables are read from every form of data", () => {
  const wanted = { names: ["a", "b"], rows: [["1", "x, \"y\"\nz"], ["2", ""]] };
  const seen = (mime: string, text: string) => {
    const table = tableOf(mime, text);
    return table === null ? null : { names: table.names, rows: table.rows };
  };
  assert.deepEqual(seen("text/csv", 'a,b\r\n1,"x, ""y""\nz"\r\n2,\r\n'), wanted);
  assert.deepEqual(seen("text/tab-separated-values", "a\tb\n1\t\"x, \"\"y\"\"\nz\"\n2\t"), wanted);
  assert.deepEqual(seen("application/json", JSON.stringify([{ a: 1, b: 'x, "y"\nz' }, { a: 2, b: null }])), wanted);
  assert.deepEqual(seen("application/vnd.dataresource+json", JSON.stringify({ schema: { fields: [{ name: "b" }] }, data: [{ a: 1, b: 2 }] })), { names: ["b"], rows: [["2"]] });
  assert.deepEqual(tableOf("text/csv", "a,b\n1,x\n-2.5,y\n")?.numeric, [true, false]);
});

test("a page is a table only if it is one plain table", () => {
  const table = "<style>td{}</style><table><thead><tr><th></th><th>a &amp; b</th></tr></thead><tbody><tr><th>0</th><td><b>1</b> &#x3c;x&gt;</td></tr></tbody></table>";
  assert.deepEqual(tableOf("text/html", table)?.rows, [["0", "1 <x>"]]);
  assert.deepEqual(tableOf("text/html", table)?.names, ["", "a & b"]);
  for (const other of [
    "<p>no table</p>",
    table + table,
    table.replace("<td>", '<td colspan="2">'),
    table.replace("</td>", "</td><td>more</td>"),
    "<table><tr><td>" + '"'.repeat(50_000),
    "<table>" + "<tr".repeat(50_000),
  ]) assert.equal(tableOf("text/html", other), null);
});

test("charts of lines, bars and points are read, and no other is half drawn", () => {
  const plotly = (data: unknown, layout: unknown = {}) => chartOf(PLOTLY, JSON.stringify({ data, layout }));
  const line = plotly([{ type: "scatter", mode: "lines", x: [1, 2, 3], y: [1, null, 3], name: "n" }], { title: { text: "T" }, xaxis: { title: { text: "X" } } });
  assert.deepEqual(line, { title: "T", x: { title: "X", kind: "number" }, y: { title: "" }, isStacked: false, series: [{ kind: "line", name: "n", points: [{ x: 1, y: 1 }, { x: 3, y: 3 }] }] });
  const bytes = Buffer.from(new Float64Array([1.5, 2.5]).buffer).toString("base64");
  assert.deepEqual(plotly([{ type: "bar", x: ["a", "b"], y: { dtype: "f8", bdata: bytes } }])?.series[0]?.points, [{ x: "a", y: 1.5 }, { x: "b", y: 2.5 }]);
  assert.equal(plotly([{ x: ["2026-01-01", "2026-02-01"], y: [1, 2] }])?.x.kind, "time");
  for (const other of [[{ type: "pie", values: [1] }], [{ y: [1] }, { type: "heatmap", z: [[1]] }], [{ type: "bar", orientation: "h", x: [1], y: ["a"] }], [{ y: ["a"] }], [{ y: [1], yaxis: "y2" }], [], "x"]) assert.equal(plotly(other), null);
  assert.equal(plotly([{ y: [1] }], { yaxis: { type: "log" } }), null);
  const vega = (spec: unknown) => chartOf(VEGA, JSON.stringify(spec));
  const data = { values: [{ a: "q", b: 1 }, { a: "p", b: 2 }, { a: "p", b: 3 }] };
  const [x, y] = [{ field: "a", type: "nominal" }, { field: "b", type: "quantitative", aggregate: "mean" }];
  assert.deepEqual(vega({ data, mark: "bar", encoding: { x, y } })?.series[0]?.points, [{ x: "p", y: 2.5 }, { x: "q", y: 1 }]);
  assert.deepEqual(vega({ data: { name: "d" }, datasets: { d: data.values }, mark: { type: "point" }, encoding: { x, y: { field: "b", type: "quantitative" } } })?.series[0]?.points.length, 3);
  for (const other of [{ data, mark: "arc", encoding: {} }, { data, mark: "bar", encoding: { x, y, row: {} } }, { data, mark: "line", transform: [], encoding: { x, y } }, { data, mark: "line", encoding: { x: { ...x, bin: true }, y } }]) assert.equal(vega(other), null);
  assert.equal(chartOf(PLOTLY, "{"), null);
});

test("scales hold every value, and bars that are stacked begin where the others end", () => {
  const chart = chartOf(PLOTLY, JSON.stringify({ data: [{ type: "bar", x: ["a"], y: [2] }, { type: "bar", x: ["a"], y: [3] }], layout: { barmode: "stack" } }));
  assert(chart !== null);
  assert.deepEqual(stacked(chart, chart.series[1] as (typeof chart.series)[0]), [{ x: "a", from: 2, to: 5 }]);
  const { y } = scales(chart, 100, 100);
  assert(y.low <= 0 && y.high >= 5);
  assert.deepEqual(ticks(y, 5).map(({ label }) => label), ["0", "1", "2", "3", "4", "5"]);
  for (const values of [[0, 0], [5, 5], [-3, -1], [1e-9, 2e-9], [1e12, 3e12]]) {
    const one = chartOf(PLOTLY, JSON.stringify({ data: [{ y: values }] }));
    assert(one !== null);
    const drawn = scales(one, 100, 100);
    for (const value of values) assert(drawn.y.place(value) >= -1e-6 && drawn.y.place(value) <= 100 + 1e-6);
    assert(ticks(drawn.y, 6).length < 20 && ticks(drawn.x, 6).length < 20);
  }
});

test("formulas are set, or shown as they are written", () => {
  const said = (node: MathNode): string => `${node.tag}(${node.text ?? (node.children ?? []).map(said).join(" ")})`;
  const set = (source: string) => {
    const tree = formula(source);
    return tree === null ? null : (tree.children ?? []).map(said).join(" ");
  };
  assert.equal(set("$x^2$"), "msup(mi(x) mn(2))");
  assert.equal(set("\\frac{1}{\\sqrt{2\\pi}}"), "mfrac(mn(1) msqrt(mrow(mn(2) mi(π))))");
  assert.equal(set("\\sum_{i=1}^n a_i"), "munderover(mo(∑) mrow(mi(i) mo(=) mn(1)) mi(n)) msub(mi(a) mi(i))");
  assert.equal(set("\\left[\\begin{matrix}1 & 0\\\\0 & 1\\end{matrix}\\right]")?.includes("mtable(mtr(mtd(mn(1)) mtd(mn(0))) mtr("), true);
  assert.equal(set("$$\\displaystyle \\int_0^\\infty e^{-x}\\,dx = 1$$")?.startsWith("msubsup(mo(∫)"), true);
  for (const odd of ["\\href{javascript:x}{y}", "\\unknown", "{", "x^", "x^1^2", "\\begin{tikzpicture}\\end{tikzpicture}", "\\constructor", "\\begin{toString}\\end{toString}", "{".repeat(500), "#", "\\left("]) assert.equal(set(odd), null, odd);
});
