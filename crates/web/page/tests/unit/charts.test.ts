import assert from "node:assert/strict";
import test from "node:test";
import { binName } from "../../src/rich/bins";
import { chartOf } from "../../src/rich/chart";
import { dataOf, share, slicesOf, spoken } from "../../src/rich/data";
import { type Chart, type Plane, timeOf } from "../../src/rich/figure";
import { levelOf, levelsOf } from "../../src/rich/level";
import { pathsOf } from "../../src/rich/paths";
import { scales, spans, ticks } from "../../src/rich/scale";
import { undrawnOf } from "../../src/rich/undrawn";

const PLOTLY = "application/vnd.plotly.v1+json";
const VEGA = "application/vnd.vegalite.v5+json";

const plotly = (data: unknown, layout: unknown = {}) => chartOf(PLOTLY, JSON.stringify({ data, layout }));
const vega = (spec: unknown) => chartOf(VEGA, JSON.stringify(spec));
function plane(chart: Chart | null): Plane {
  assert(chart?.shape === "plane", JSON.stringify(chart));
  return chart;
}
const points = (chart: Chart | null) => plane(chart).series.map((one) => one.points);
/** The pairs of each series. */
const pairs = (chart: Chart | null) => points(chart).map((all) => all.map(({ x, y }) => [x, y]));
const bytes = (array: ArrayBufferView) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");

test("lines, bars and points are read", () => {
  const line = plane(plotly([{ type: "scatter", mode: "lines", x: [1, 2, 3], y: [1, null, 3], name: "n" }], { title: { text: "<b>T</b><br>t" }, xaxis: { title: { text: "X" } } }));
  assert.equal(line.title, "T t");
  assert.deepEqual([line.x, line.y.kind], [{ title: "X", kind: "number", isReversed: false, names: [] }, "number"]);
  assert.deepEqual(line.series, [{ kind: "line", name: "n", points: [{ x: 1, y: 1 }, { x: 3, y: 3, isNew: true }] }]);
  assert.equal(plane(plotly([{ x: ["2026-01-01", "2026-02-01"], y: [1, 2] }])).x.kind, "time");
  assert.equal(plane(plotly([{ y: ["1.5", "2"] }])).series[0]?.kind, "both");
  const marked = points(plotly([{ mode: "markers", x: [1, 2], y: [1, 2], marker: { size: [4, 9], color: [0, 1] } }]));
  assert.deepEqual(marked, [[{ x: 1, y: 1, size: 4, heat: 0 }, { x: 2, y: 2, size: 9, heat: 1 }]]);
  for (const other of [[{ type: "scatter3d", z: [1] }], [{ y: ["a"] }], [{ y: [1], yaxis: "y2" }], [{ y: [1] }, { type: "pie", values: [1] }], [{ type: "bar", y: [1], base: ["?"] }], [], "x", [{ x: [["a"], ["b"]], y: [1, 2] }]]) assert.equal(plotly(other), null);
  assert.equal(plotly([{ y: [1] }], { yaxis: { type: "date" } }), null);
  assert.equal(chartOf(PLOTLY, "{"), null);
  assert.equal(chartOf("application/json", '{"data":[{"y":[1]}]}'), null);
});

test("numbers that come as bytes are read, of every type and of no other", () => {
  const types: [string, ArrayBufferView][] = [
    ["f8", new Float64Array([1.5, -2])], ["f4", new Float32Array([1.5, -2])], ["i4", new Int32Array([1, -2])], ["u4", new Uint32Array([1, 4e9])],
    ["i2", new Int16Array([1, -2])], ["u2", new Uint16Array([1, 65_535])], ["i1", new Int8Array([1, -2])], ["u1", new Uint8Array([1, 255])],
  ];
  for (const [dtype, array] of types) assert.deepEqual(pairs(plotly([{ type: "bar", x: ["a", "b"], y: { dtype, bdata: bytes(array) } }])), [[["a", (array as unknown as number[])[0]], ["b", (array as unknown as number[])[1]]]], dtype);
  assert.deepEqual(points(plotly([{ mode: "lines", y: { dtype: "f8", bdata: bytes(new Float64Array([1, NaN, Infinity, 4])) } }])), [[{ x: 0, y: 1 }, { x: 3, y: 4, isNew: true }]]);
  for (const y of [{ dtype: "constructor", bdata: "AAAA" }, { dtype: "__proto__", bdata: "AAAA" }, { dtype: "f8", bdata: "not base64!" }, { dtype: "f8", bdata: 7 }, { dtype: "u1", bdata: "A".repeat(9_000_000) }]) assert.equal(plotly([{ y }]), null);
  const grid = plotly([{ type: "heatmap", z: { dtype: "i1", bdata: bytes(new Int8Array([1, 2, 3, 4, 5, 6])), shape: "2, 3" } }]);
  assert.deepEqual(grid?.shape === "grid" && grid.cells, [[4, 5, 6], [1, 2, 3]]);
  for (const shape of ["2, 4", "99999999, 99999999", "-1, 6", "2, 3, 1", ["2", "3"]]) assert.equal(plotly([{ type: "heatmap", z: { dtype: "i1", bdata: "AAAAAAAA", shape } }]), null);
});

test("pies are read, with the same slices joined", () => {
  const pie = plotly([{ type: "pie", labels: ["a", "b", "a", "c", "d"], values: [1, 5, 2, -1, null], hole: 0.4 }], { title: "P" });
  assert.deepEqual(pie, { shape: "pie", title: "P", hasHole: true, slices: [{ name: "b", value: 5 }, { name: "a", value: 3 }] });
  assert.deepEqual(plotly([{ type: "pie", labels: ["a", "b", "b"] }])?.shape === "pie" && dataOf(plotly([{ type: "pie", labels: ["a", "b", "b"] }]) as Chart)?.rows, [["b", "2", "66.7 %"], ["a", "1", "33.3 %"]]);
  for (const other of [[{ type: "pie", values: [0, -1] }], [{ type: "pie", values: "x", labels: ["a"] }], [{ type: "pie", values: [1] }, { type: "pie", values: [1] }], [{ type: "pie", values: Array(20_000).fill(1) }]]) assert.equal(plotly(other), null);
  assert.deepEqual([share(1, 3), share(1, 1), share(1, 1e6), share(0, 0)], ["33.3 %", "100 %", "<0.1 %", "0 %"]);
  assert.deepEqual(slicesOf([1, 9, 2, 8].map((value) => ({ name: String(value), value })), 3).map(({ name, value }) => [name, value]), [["9", 9], ["8", 8], ["2 others", 3]]);
  const values = [{ k: "q", v: 1 }, { k: "p", v: 2 }, { k: "q", v: 4 }];
  const arc = (encoding: unknown) => vega({ data: { values }, mark: { type: "arc", innerRadius: 20 }, encoding });
  assert.deepEqual(arc({ theta: { field: "v", type: "quantitative" }, color: { field: "k", type: "nominal" } }), { shape: "pie", title: "", hasHole: true, slices: [{ name: "p", value: 2 }, { name: "q", value: 5 }] });
  assert.deepEqual((arc({ theta: { aggregate: "count" }, color: { field: "k" } }) as { slices: unknown[] }).slices, [{ name: "p", value: 1 }, { name: "q", value: 2 }]);
  assert.equal(arc({ theta: { field: "v", type: "quantitative" } }), null);
});

test("histograms have the bins that Plotly makes", () => {
  const bins = (trace: unknown, layout: unknown = {}) => points(plotly([{ type: "histogram", ...(trace as object) }], layout)).map((all) => all.map(({ x, y, end }) => [x, end, y]));
  // Whole numbers stand in the middle of their bins.
  assert.deepEqual(bins({ x: [1, 2, 2, 3, 3, 3], xbins: { start: 0.5, end: 3.5, size: 1 } }), [[[0.5, 1.5, 1], [1.5, 2.5, 2], [2.5, 3.5, 3]]]);
  const many = Array.from({ length: 100 }, (_, at) => at / 10);
  assert.deepEqual(bins({ x: many, nbinsx: 5 })[0]?.map(([, , count]) => count).reduce((one, other) => Number(one) + Number(other), 0), 100);
  assert((bins({ x: many, nbinsx: 5 })[0]?.length ?? 99) <= 6);
  assert.deepEqual(bins({ x: [1, 1, 2], histnorm: "percent", xbins: { start: 0, end: 4, size: 2 } })[0]?.map(([, , share]) => Math.round(Number(share))), [67, 33]);
  assert.deepEqual(pairs(plotly([{ type: "histogram", x: ["b", "a", "b"] }])), [[["b", 2], ["a", 1]]]);
  assert.deepEqual(pairs(plotly([{ type: "histogram", x: ["b", "a", "b"], y: [1, 2, 3], histfunc: "sum" }])), [[["b", 4], ["a", 2]]]);
  assert.equal(plane(plotly([{ type: "histogram", y: [1.5, 2.5, 9.1] }])).isFlat, true);
  assert.equal(plane(plotly([{ type: "histogram", x: ["2026-01-01", "2026-02-03", "2026-05-01"] }])).x.kind, "time");
  // Several share their bins.
  const two = points(plotly([{ type: "histogram", x: [0.5, 1.7, 9.2] }, { type: "histogram", x: [3.3, 30.9] }], { barmode: "overlay" }));
  assert.deepEqual(two[0]?.map(({ x }) => x), two[1]?.map(({ x }) => x));
  // However far values are from each other, and however close.
  for (const x of [[0, 1e140], [5, 5, 5], [0], [1e15, 1e15 + 1], [-1e-140, 1e-140], [1e-300, 2], Array.from({ length: 1000 }, (_, at) => 2 ** (at % 40)), [1e100]]) {
    const all = plotly([{ type: "histogram", x }]);
    assert(all === null || (points(all)[0] as unknown[]).length <= 2000);
    if (all !== null) assert.equal(pairs(all)[0]?.reduce((sum, [, count]) => sum + Number(count), 0), x.length, String(x.slice(0, 4)));
  }
  for (const xbins of [{ size: 1e-9 }, { size: 0 }, { size: -1 }, { start: 1e9, end: 0, size: 1 }]) {
    const found = plotly([{ type: "histogram", x: [1.5, 500.5], xbins }]);
    assert(found === null || (points(found)[0] as unknown[]).length <= 2000);
  }
  assert.equal(plotly([{ type: "histogram", x: [{}, []] }]), null);
});

test("bars lie, stand on each other and share a place", () => {
  const flat = plane(plotly([{ type: "bar", orientation: "h", x: [1, 2], y: ["a", "b"] }], { xaxis: { title: "V" }, yaxis: { autorange: "reversed" } }));
  assert.deepEqual([flat.isFlat, flat.x.names, flat.x.isReversed, flat.y.title, pairs(flat)], [true, ["a", "b"], true, "V", [[["a", 1], ["b", 2]]]]);
  const drawn = scales(flat, 100, 100);
  assert.deepEqual([drawn.x.place("a"), drawn.x.place("b"), drawn.y.place(0)], [25, 75, 0]);
  const stacked = plane(plotly([{ type: "bar", x: ["a", "b"], y: [2, -1] }, { type: "bar", x: ["b", "a"], y: [-2, 3] }], { barmode: "stack" }));
  assert.deepEqual(spans(stacked).map((all) => all.map(({ from, to }) => [from, to])), [[[0, 2], [0, -1]], [[-1, -3], [2, 5]]]);
  const { y } = scales(stacked, 100, 100);
  assert(y.low <= -3 && y.high >= 5);
  const shares = plane(plotly([{ type: "bar", x: ["a"], y: [1] }, { type: "bar", x: ["a"], y: [3] }], { barmode: "relative", barnorm: "percent" }));
  assert.deepEqual(spans(shares).map((all) => all.map(({ from, to }) => [from, to])), [[[0, 25]], [[25, 100]]]);
  assert.equal(plane(plotly([{ type: "bar", x: ["a"], y: [1] }, { type: "bar", x: ["a"], y: [3] }], { barmode: "overlay" })).together, "overlay");
  assert.equal(plotly([{ type: "bar", orientation: "h", x: [1], y: ["a"] }, { type: "bar", orientation: "v", x: ["a"], y: [1] }]), null);
  const timeline = plane(plotly([{ type: "bar", orientation: "h", base: ["2026-01-01"], x: [86_400_000], y: ["a"] }], { xaxis: { type: "date" }, barmode: "overlay" }));
  assert.deepEqual([timeline.y.kind, dataOf(timeline)?.rows], ["time", [["a", "2026-01-01", "2026-01-02"]]]);
  const planned = vega({ data: { values: [{ t: "a", s: "2026-01-01", e: "2026-01-03" }] }, mark: "bar", encoding: { y: { field: "t" }, x: { field: "s", type: "temporal" }, x2: { field: "e" } } });
  assert.deepEqual([plane(planned).isFlat, dataOf(plane(planned))?.rows], [true, [["a", "2026-01-03", "2026-01-01"]]]);
  assert.deepEqual(plane(plotly([{ type: "bar", x: ["a", "b", "c"], y: [1, 3, 2] }], { xaxis: { categoryorder: "total descending" } })).x.names, ["b", "c", "a"]);
  assert.deepEqual(points(plotly([{ type: "bar", x: ["a", "b"], y: [4, 5], error_y: { type: "data", array: [1, null], arrayminus: [2, 1] } }])), [[{ x: "a", y: 4, error: [2, 1] }, { x: "b", y: 5, error: [1, 0] }]]);
});

test("areas, boxes and lines through a whole chart are read", () => {
  assert.deepEqual(points(plotly([{ mode: "lines", x: [1, 2], y: [3, 4] }, { x: [1, 2], y: [5, 6], fill: "tonexty" }])), [[{ x: 1, y: 3 }, { x: 2, y: 4 }], [{ x: 1, y: 5, from: 3 }, { x: 2, y: 6, from: 4 }]]);
  assert.deepEqual(points(plotly([{ y: [3], fill: "tozeroy" }])), [[{ x: 0, y: 3, from: 0 }]]);
  const stacked = plane(plotly([{ y: [1, 2], stackgroup: "one" }, { y: [3, 4], stackgroup: "one" }]));
  assert.deepEqual(spans(stacked).map((all) => all.map(({ from, to }) => [from, to])), [[[0, 1], [0, 2]], [[1, 4], [2, 6]]]);
  for (const fill of ["toself", "tozerox", {}]) assert.equal(plotly([{ y: [1], fill }])?.shape === "plane" && typeof fill === "string", false);
  const box = points(plotly([{ type: "box", name: "n", y: [1, 2, 3, 4, 5, 6, 7, 8, 9, 100] }]));
  assert.deepEqual(box, [[{ x: "n", y: 5.5, box: { low: 1, first: 3, middle: 5.5, third: 8, high: 9, outliers: [100] } }]]);
  assert.deepEqual(points(plotly([{ type: "box", x: ["p"], q1: [1], median: [2], q3: [3], lowerfence: [0], upperfence: [4] }])), [[{ x: "p", y: 2, box: { low: 0, first: 1, middle: 2, third: 3, high: 4, outliers: [] } }]]);
  assert.equal(plane(plotly([{ type: "box", x: [1, 2, 3] }])).isFlat, true);
  assert.deepEqual(plane(plotly([{ type: "box", y: [1, 2], boxpoints: "all", fillcolor: "rgba(255,255,255,0)" }])).series[0]?.kind, "tick");
  const ruled = plane(plotly([{ y: [1, 2] }], { shapes: [{ type: "line", xref: "x domain", x0: 0, x1: 1, y0: 5, y1: 5 }, { type: "line", yref: "paper", x0: 1, x1: 1 }, { type: "rect" }, null] }));
  assert.deepEqual(ruled.series.map((one) => one.kind), ["both", "rule", "post"]);
  assert(scales(ruled, 100, 100).y.high >= 5);
});

test("heatmaps have a colour scale that knows zero", () => {
  const grid = plotly([{ type: "heatmap", x: ["a", "b"], y: ["p", "q"], z: [[1, null], [-3, 2]], colorbar: { title: { text: "r" } } }], { yaxis: { autorange: "reversed" } });
  assert.deepEqual(grid, { shape: "grid", title: "", value: "r", x: { title: "", names: ["a", "b"] }, y: { title: "", names: ["p", "q"] }, cells: [[1, null], [-3, 2]] });
  assert.deepEqual(dataOf(grid as Chart)?.rows[1], ["b", "p", ""]);
  const levels = levelsOf([1, -3, 2]);
  assert.deepEqual([levels, levelOf(levels, 0), levelOf(levels, -3), levelOf(levels, 3)], [{ low: -3, high: 3, isSplit: true }, 5, 0, 10]);
  assert.deepEqual([levelOf(levelsOf([4]), 4), levelOf(levelsOf([1, 5]), 5)], [5, 10]);
  for (const z of [[], [[]], [[null]], "x", [1, 2], [[1], "x"], Array(300).fill(Array(300).fill(1))]) assert.equal(plotly([{ type: "heatmap", z }]), null);
  const counts = plotly([{ type: "histogram2d", x: ["a", "b", "b", null], y: [1, 5, 5, 1], nbinsy: 2 }]);
  assert.deepEqual(counts?.shape === "grid" && [counts.x.names, counts.cells.flat().reduce((sum: number, value) => sum + (value ?? 0), 0)], [["a", "b"], 3]);
  assert.deepEqual([binName([-0.1, 0.1 + 0.2, 1], 0), binName([0.1, 0.1 + 0.2, 1], 0), binName([-0.2, -4e-17], 0), binName([1e20, 2e20], 0)], ["-0.1 to 0.3", "0.1–0.3", "-0.2 to 0", "100000000000000000000–200000000000000000000"]);
  assert.equal(plotly([{ type: "histogram2d", x: [1], y: [{}] }])?.shape, undefined);
  const values = [{ a: "p", b: 2, c: 1 }, { a: "q", b: 2, c: 4 }, { a: "q", b: 1, c: 2 }, { a: "q", b: 1, c: 4 }];
  const rect = vega({ data: { values }, mark: "rect", encoding: { x: { field: "a" }, y: { field: "b", type: "ordinal" }, color: { field: "c", type: "quantitative", aggregate: "mean" } } });
  assert.deepEqual(rect?.shape === "grid" && [rect.x.names, rect.y.names, rect.cells, rect.value], [["p", "q"], ["1", "2"], [[null, 3], [1, 4]], "Mean of c"]);
  const far = vega({ data: { values: [{ n: 0, c: "a" }, { n: 9, c: "a" }] }, mark: "rect", encoding: { x: { field: "n", type: "quantitative", bin: { step: 2 } }, y: { field: "c" }, color: { aggregate: "count", type: "quantitative" } } });
  assert.deepEqual(far?.shape === "grid" && [far.x.names, far.cells], [["0–2", "2–4", "4–6", "6–8", "8–10"], [[1, null, null, null, 1]]]);
});

test("axes are logarithmic, or dates", () => {
  const log = plane(plotly([{ mode: "lines", x: [1, 2, 3, 4], y: [1, 0, -5, 1000] }], { yaxis: { type: "log" } }));
  assert.deepEqual(points(log), [[{ x: 1, y: 1 }, { x: 4, y: 1000, isNew: true }]]);
  const { y } = scales(log, 100, 300);
  assert.deepEqual(ticks(y, 6).map(({ at, label }) => [Math.round(at), label]), [[300, "1"], [200, "10"], [100, "100"], [0, "1,000"]]);
  assert.equal(plotly([{ y: [0, -1] }], { yaxis: { type: "log" } }), null);
  assert(ticks(scales(plane(plotly([{ y: [1e-140, 1e140] }], { yaxis: { type: "log" } })), 100, 100).y, 6).length < 20);
  assert.equal(timeOf("2026-01-02T03:04:05.6+07:00"), Date.UTC(2026, 0, 2, 3, 4, 5, 600));
  for (const other of ["2026", "yesterday", "2026-01-02x", `2026-01-${"0".repeat(99)}`, 1e300, null]) assert.equal(timeOf(other), null);
  const labels = (...x: string[]) => ticks(scales(plane(plotly([{ x, y: x.map(() => 1) }])), 100, 100).x, 5).map(({ label }) => label);
  assert.deepEqual(labels("2024-01-01", "2024-12-01"), ["2024-01", "2024-04", "2024-07", "2024-10"]);
  assert(labels("2020-01-01", "2026-01-01").includes("2024"));
  assert(labels("2024-01-01", "2024-05-01").includes("2024-03"));
  assert(labels("2024-01-01 00:00:00", "2024-01-01 12:00:00").includes("01-01 06:00"));
  for (const x of [["0001-01-01", "9999-12-31"], ["2024-01-01", "2024-01-01"]]) assert(labels(...x).length < 30);
});

test("charts of Vega-Lite are read", () => {
  const values = [{ a: "q", b: 1, t: "2026-01-05", n: 0 }, { a: "p", b: 2, t: "2026-01-20", n: 3 }, { a: "p", b: 3, t: "2026-02-01", n: 10 }];
  const [x, y] = [{ field: "a", type: "nominal" }, { field: "b", type: "quantitative" }];
  const unit = (mark: unknown, encoding: unknown, more = {}) => vega({ data: { values }, mark, encoding, ...more });
  assert.deepEqual(pairs(unit("bar", { x, y: { ...y, aggregate: "mean" } })), [[["p", 2.5], ["q", 1]]].map((all) => [...all].reverse()));
  assert.deepEqual(plane(unit("bar", { x, y: { ...y, aggregate: "mean" } })).x.names, ["p", "q"]);
  for (const [aggregate, wanted] of [["sum", 5], ["min", 2], ["max", 3], ["median", 2.5], ["count", 2]] as const) assert.deepEqual(pairs(unit("bar", { x, y: { ...y, aggregate } }))[0]?.[1], ["p", wanted], aggregate);
  assert.deepEqual(pairs(unit("bar", { x, y: { field: "t", type: "quantitative", aggregate: "distinct" } }))[0], [["q", 1], ["p", 2]]);
  const flat = plane(unit("bar", { y: { ...x, sort: "-x" }, x: { ...y, aggregate: "sum", title: "S" } }));
  assert.deepEqual([flat.isFlat, flat.x.names, flat.x.isReversed, flat.y.title], [true, ["p", "q"], true, "S"]);
  assert.deepEqual(points(unit("bar", { x: { field: "n", bin: { maxbins: 5 }, type: "quantitative" }, y: { aggregate: "count" } })), [[{ x: 0, y: 1, end: 2 }, { x: 2, y: 1, end: 4 }, { x: 8, y: 1, end: 10 }]]);
  assert.deepEqual(pairs(unit("line", { x: { field: "t", type: "temporal", timeUnit: "yearmonth" }, y: { ...y, aggregate: "sum" } })), [[[Date.UTC(2026, 0), 3], [Date.UTC(2026, 1), 3]]]);
  assert.equal(plane(unit("area", { x: { field: "t", type: "temporal" }, y, color: x })).together, "stack");
  assert.equal(plane(unit("bar", { x, y: { ...y, stack: "normalize" }, color: { field: "t" } })).together, "share");
  assert.equal(plane(unit("point", { x: { field: "n", type: "quantitative" }, y: { ...y, scale: { type: "log" } } })).y.kind, "log");
  assert.deepEqual(points(unit("point", { x: { field: "n", type: "quantitative" }, y, color: { field: "b", type: "quantitative" }, size: { field: "n", type: "quantitative" } }))[0]?.[1], { x: 3, y: 2, heat: 2, size: 3 });
  assert.deepEqual(points(unit("boxplot", { x, y }))[0]?.[1]?.box?.middle, 2.5);
  assert.deepEqual(plane(unit("tick", { x: y, y: x })).series[0]?.kind, "tick");
  assert.deepEqual(points(unit("rule", { y: { ...y, aggregate: "mean" } })), [[{ x: "", y: 2 }]]);
  assert.deepEqual(plane(unit({ type: "line", point: true }, { x: { field: "n", type: "quantitative" }, y })).series[0]?.kind, "both");
  const layer = [{ mark: "bar", encoding: { y } }, { mark: "text", encoding: { y, text: { field: "b" } } }, { mark: "rule", encoding: { x: null, y: { ...y, aggregate: "mean" } } }];
  assert.deepEqual(plane(vega({ data: { values }, encoding: { x }, layer })).series.map((one) => one.kind), ["bar", "rule"]);
  assert.deepEqual(points(vega({ data: { name: "d" }, datasets: { d: values }, mark: { type: "point" }, encoding: { x, y } }))[0]?.length, 3);
  for (const other of [["arc", {}], ["bar", { x, y, row: {} }], ["geoshape", {}], ["bar", { x, y: { ...y, aggregate: "constructor" } }], ["line", { x: { ...x, timeUnit: "constructor" }, y }], ["point", { x, y: x }], ["bar", { x: { ...x, field: "__proto__" }, y: { ...y, field: "constructor" } }], ["area", { x, y: { ...y, stack: "center" } }]] as const) assert.equal(unit(other[0], other[1]), null, JSON.stringify(other));
  for (const more of [{ transform: [] }, { facet: {} }, { hconcat: [] }, { layer: [] }]) assert.equal(unit("bar", { x, y }, more), null);
  assert.equal(vega({ data: { url: "http://attack.invalid" }, mark: "bar", encoding: { x, y } }), null);
});

test("figures that are not drawn are tables, with words for their kind", () => {
  const shown = (data: unknown, mime = PLOTLY) => undrawnOf(mime, JSON.stringify({ data }));
  const deep = shown([{ type: "scatter3d", name: "s", x: [1, 2], y: [3, 4], z: { dtype: "i1", bdata: "BQY=" } }]);
  assert.deepEqual([deep?.table?.names, deep?.table?.rows], [["x", "y", "z"], [["1", "3", "5"], ["2", "4", "6"]]]);
  assert(deep?.note.includes("three dimensions"));
  assert.deepEqual(shown([{ type: "surface", z: [[1, 2], [3, 4]], x: ["a", "b"] }])?.table?.rows, [["a", "0", "1"], ["b", "0", "2"], ["a", "1", "3"], ["b", "1", "4"]]);
  assert(shown([{ type: "choropleth", locations: ["DE"], z: [1] }])?.note.includes("maps"));
  assert(shown([{ y: [1], yaxis: "y2" }])?.note.includes("axes"));
  assert.deepEqual(shown([{ y: [1], name: "n" }, { y: [2], xaxis: "x2" }])?.table?.rows, [["n", "1"], ["trace 1", "2"]]);
  assert.deepEqual(shown([{ type: "table", header: { values: ["<b>a</b>", ["b"]] }, cells: { values: [[1, 2], ["x"]] } }])?.table?.rows, [["1", "x"], ["2", ""]]);
  assert.deepEqual(shown([{ type: "sankey", node: { label: ["p", "q"] }, link: { source: [0], target: [1], value: [5] } }])?.table?.rows, [["5", "p", "q"]]);
  assert(shown([{ type: "treemap", labels: ["a"], parents: [""], values: [1] }])?.note.includes("`treemap`"));
  for (const data of [[], "x", [{ type: "<img>" }], [null]]) assert.equal(shown(data)?.table, null);
  assert(!shown([{ type: "<img src=x>", y: [1], x: [[1]] }])?.note.includes("img"));
  assert.deepEqual(undrawnOf("application/vnd.vega.v5+json", JSON.stringify({ data: [{ name: "t" }, { name: "u", values: [{ a: 1 }] }] }))?.table?.rows, [["1"]]);
  assert.deepEqual(undrawnOf(VEGA, JSON.stringify({ hconcat: [{ data: { values: [{ a: 2 }] } }] }))?.table?.rows, [["2"]]);
  assert.equal(undrawnOf("application/json", "{}"), null);
  assert.equal(undrawnOf(PLOTLY, "{"), null);
});

test("scales hold every value, and their ticks are few", () => {
  for (const values of [[0, 0], [5, 5], [-3, -1], [1e-9, 2e-9], [1e12, 3e12], [1e17, 1e17 + 16], [1e140, -1e140], [5e-324, 1e-323], [1e-140, 1]]) {
    const one = plane(plotly([{ y: values }]));
    const drawn = scales(one, 100, 100);
    for (const value of values) assert(drawn.y.place(value) >= -1e-6 && drawn.y.place(value) <= 100 + 1e-6, String(values));
    const all = ticks(drawn.y, 6);
    assert(all.length < 20 && ticks(drawn.x, 6).length < 20);
    assert.equal(new Set(all.map(({ label }) => label)).size, all.length, `${values}: ${all.map(({ label }) => label)}`);
  }
  assert.deepEqual(ticks(scales(plane(plotly([{ type: "bar", x: ["a"], y: [5] }])), 100, 100).y, 5).map(({ label }) => label), ["0", "1", "2", "3", "4", "5"]);
  assert.deepEqual(ticks(scales(plane(plotly([{ type: "bar", x: ["a"], y: [25e6] }])), 100, 100).y, 5).map(({ label }) => label), ["0", "5M", "10M", "15M", "20M", "25M"]);
});

/** The paths of every series, in a drawing of 100 pixels each way. */
function drawn(chart: Chart | null): [string, string][][] {
  const one = plane(chart);
  const inner = { width: 100, height: 100 };
  const heats = one.series.flatMap((series) => series.points.flatMap(({ heat }) => (heat === undefined ? [] : [heat])));
  return pathsOf({ chart: one, ...scales(one, 100, 100), inner, levels: heats.length === 0 ? null : levelsOf(heats) });
}

test("marks are paths in the drawing, whatever the values", () => {
  assert.deepEqual(drawn(plotly([{ type: "bar", x: ["a", "b"], y: [1, 2] }])), [[["bars", "M5.0 100.0L5.0 50.0L44.0 50.0L44.0 100.0zM55.0 100.0L55.0 0.0L94.0 0.0L94.0 100.0z"]]]);
  // Bars that lie begin on the left.
  assert.deepEqual(drawn(plotly([{ type: "bar", orientation: "h", y: ["a"], x: [1] }])), [[["bars", "M0.0 10.0L100.0 10.0L100.0 89.0L0.0 89.0z"]]]);
  // A gap is a gap, and a value between two gaps is a dot.
  assert.equal(drawn(plotly([{ mode: "lines", y: [1, null, 2, null, 1, 2] }]))[0]?.[0]?.[1].match(/M/g)?.length, 3);
  assert.deepEqual(drawn(plotly([{ type: "box", y: [1, 2, 3, 4, 5, 6, 99] }]))[0]?.map(([name]) => name), ["box", "line", "points"]);
  assert.deepEqual(drawn(plotly([{ mode: "markers", y: [1, 2], marker: { color: [0, 9] } }]))[0]?.map(([name]) => name), ["bubbles edged heat-0", "bubbles edged heat-10"]);
  const odd = [null, 0, -1, 1e149, -1e149, 5e-324, 1e-300, 7];
  const hostile = [
    ...["lines", "markers", "lines+markers"].map((mode) => [{ mode, x: odd, y: odd, marker: { size: odd, color: odd }, error_y: { array: odd } }]),
    [{ type: "bar", x: odd, y: odd }, { type: "bar", x: odd, y: odd, error_y: { type: "percent", value: -1e9 } }], [{ type: "box", x: odd, y: odd }],
    [{ fill: "tozeroy", y: odd }], [{ stackgroup: "a", x: odd, y: odd }], [{ type: "histogram", x: odd }],
  ];
  for (const data of hostile) {
    for (const layout of [{}, { yaxis: { type: "log" } }, { xaxis: { type: "log" } }, { xaxis: { type: "date" } }, { xaxis: { type: "category" }, barmode: "stack" }, { barmode: "relative", barnorm: "percent", yaxis: { autorange: "reversed" } }]) {
      const chart = plotly(data, layout);
      if (chart !== null) assert(!/NaN|Infinity|e[+-]/.test(drawn(chart).flat(2).join(" ")), JSON.stringify([data, layout]));
    }
  }
});

test("a chart says in a sentence what it shows", () => {
  assert.equal(spoken(plotly([{ type: "bar", name: "N", x: ["a", "b"], y: [1, 3] }, { type: "bar", name: "S", x: ["a"], y: [2] }], { title: "T", yaxis: { title: "Pieces" } }) as Chart), "Bar chart: T. Pieces from 1 to 3; Places: 2, from a to b. 2 series: N, S.");
  assert.equal(spoken(plotly([{ type: "pie", labels: ["a", "b"], values: [1, 3] }]) as Chart), "Pie chart. b 75.0 %, a 25.0 %.");
  assert(spoken(plotly([{ type: "histogram", x: [1.5, 2.5] }]) as Chart).startsWith("Histogram. "));
});

test("hostile charts are bounded, and soon refused or drawn", { timeout: 60_000 }, () => {
  const many = <Value>(length: number, make: (at: number) => Value) => Array.from({ length }, (_, at) => make(at));
  const refused = [
    [{ y: many(300_000, (at) => at) }],
    many(25, () => ({ y: [1] })),
    [{ type: "heatmap", z: many(1000, () => many(1000, () => 1)) }],
    [{ y: [{}] }], [{ y: [[1]] }], [{ x: [{}], y: [1] }], [{ type: { a: 1 }, y: [1] }], [null, 1, "x"], { length: 3 },
  ];
  for (const data of refused) assert.equal(plotly(data), null);
  const names = many(100_000, (at) => `name ${at}`);
  const drawn = [
    plotly([{ type: "bar", x: names, y: many(100_000, (at) => at) }], { barmode: "stack", xaxis: { categoryorder: "array", categoryarray: names } }),
    plotly(many(24, (at) => ({ type: "bar", x: many(5000, (row) => row), y: many(5000, (row) => row * at) })), { barmode: "stack" }),
    plotly([{ type: "box", x: names, y: many(100_000, (at) => at) }]),
    plotly([{ type: "histogram", x: many(100_000, (at) => at ** 2) }]),
    vega({ data: { values: many(100_000, (at) => ({ a: `n${at}`, b: at })) }, mark: "bar", encoding: { x: { field: "a", sort: names }, y: { field: "b", aggregate: "sum", type: "quantitative" } } }),
    plotly([{ y: [1], name: "x".repeat(1_000_000) }, { y: [2] }], { title: "<b ".repeat(100_000) }),
  ];
  for (const chart of drawn) {
    const found = plane(chart);
    const { x, y } = scales(found, 240, 200);
    assert(ticks(x, 6).length < 60 && ticks(y, 6, 0).length < 60);
    assert(spoken(found).length < 2000);
  }
  // Many colours, and a grid of many names.
  const rows = many(1000, (at) => ({ a: `a${at}`, b: `b${at}`, c: at }));
  assert.equal(vega({ data: { values: rows }, mark: "line", encoding: { x: { field: "c", type: "quantitative" }, y: { field: "c", type: "quantitative" }, color: { field: "a" } } }), null);
  assert.equal(vega({ data: { values: rows }, mark: "rect", encoding: { x: { field: "a" }, y: { field: "b" }, color: { field: "c", type: "quantitative" } } }), null);
  assert.equal(vega({ data: { values: rows }, layer: many(1000, () => ({ mark: "line", encoding: { x: { field: "c", type: "quantitative" }, y: { field: "c", type: "quantitative" } } })) }), null);
});
