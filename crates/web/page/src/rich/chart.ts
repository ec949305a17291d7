//! Charts of Plotly and Vega-Lite as marks that the page draws: lines, bars and points. Pure.
//!
//! A chart is drawn whole or not at all: whatever asks for another mark, axis or transformation gives
//! nothing, and its data is shown instead. Nothing of it is run.

import { ofRecords, type Table } from "./table";

export type Position = number | string;

export interface Series {
  kind: "line" | "points" | "both" | "bar";
  name: string;
  points: { x: Position; y: number }[];
}

export interface Chart {
  title: string;
  x: { title: string; kind: "number" | "time" | "category" };
  y: { title: string };
  series: Series[];
  /** Bars of one place stand on each other. */
  isStacked: boolean;
}

/** Points of a chart at most. */
const MOST = 200_000;
const MOST_SERIES = 24;

type Fields = { [field: string]: unknown };
const fields = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? value as Fields : {});
const words = (value: unknown): string => (typeof value === "string" ? value : typeof fields(value)["text"] === "string" ? fields(value)["text"] as string : "");

/** The chart that a form of a result is. */
export function chartOf(mime: string, text: string): Chart | null {
  try {
    const value: unknown = JSON.parse(text);
    if (mime === "application/vnd.plotly.v1+json") return ofPlotly(fields(value));
    return /^application\/vnd\.vegalite\.v\d+(?:\.\d+)*\+json$/.test(mime) ? ofVegaLite(fields(value)) : null;
  } catch {
    return null;
  }
}

/** A chart with the kind of its axis found, or nothing if it is empty or too large. */
function whole(chart: Omit<Chart, "x"> & { x: { title: string } }): Chart | null {
  const all = chart.series.flatMap((one) => one.points);
  if (all.length === 0 || all.length > MOST || chart.series.length > MOST_SERIES) return null;
  const kind = all.every(({ x }) => typeof x === "number") ? "number"
    : all.every(({ x }) => typeof x === "string" && /^\d{4}-\d\d(-\d\d)?/.test(x) && !Number.isNaN(Date.parse(x))) && chart.series.every((one) => one.kind !== "bar") ? "time" : "category";
  const placed = (x: Position): Position => (kind === "time" ? Date.parse(String(x)) : kind === "category" ? String(x) : x);
  const series = chart.series.map((one) => ({ ...one, points: one.points.map(({ x, y }) => ({ x: placed(x), y })) }));
  return { ...chart, x: { ...chart.x, kind }, series };
}

const TYPES: { [dtype: string]: [number, (view: DataView, at: number) => number] } = {
  f8: [8, (view, at) => view.getFloat64(at, true)], f4: [4, (view, at) => view.getFloat32(at, true)],
  i4: [4, (view, at) => view.getInt32(at, true)], u4: [4, (view, at) => view.getUint32(at, true)],
  i2: [2, (view, at) => view.getInt16(at, true)], u2: [2, (view, at) => view.getUint16(at, true)],
  i1: [1, (view, at) => view.getInt8(at)], u1: [1, (view, at) => view.getUint8(at)],
};

/** A column of Plotly: a list, or the bytes of numbers. */
function column(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value;
  const { dtype, bdata, shape } = fields(value);
  const type = typeof dtype === "string" ? TYPES[dtype] : undefined;
  if (type === undefined || typeof bdata !== "string" || shape !== undefined) return null;
  const bytes = Uint8Array.from(atob(bdata), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: Math.floor(bytes.length / type[0]) }, (_, at) => type[1](view, at * type[0]));
}

function points(xs: unknown[] | null, ys: unknown[]): Series["points"] | null {
  const found: Series["points"] = [];
  for (const [at, y] of ys.entries()) {
    const x = xs === null ? at : xs[at];
    if (y === null || x === null || x === undefined) continue;
    if (typeof y !== "number" || (typeof x !== "number" && typeof x !== "string")) return null;
    if (Number.isFinite(y) && (typeof x === "string" || Number.isFinite(x))) found.push({ x, y });
  }
  return found;
}

function ofPlotly(figure: Fields): Chart | null {
  const layout = fields(figure["layout"]);
  const [xaxis, yaxis] = [fields(layout["xaxis"]), fields(layout["yaxis"])];
  if ([xaxis, yaxis].some((axis) => axis["type"] === "log" || axis["autorange"] === "reversed")) return null;
  const series: Series[] = [];
  for (const trace of (Array.isArray(figure["data"]) ? figure["data"] : []).map(fields)) {
    if (trace["visible"] === false || trace["visible"] === "legendonly") continue;
    const type = trace["type"] ?? "scatter";
    const isBar = type === "bar";
    if (!isBar && type !== "scatter" && type !== "scattergl") return null;
    const other = trace["orientation"] === "h" || trace["fill"] === "toself" || trace["stackgroup"] !== undefined || (trace["xaxis"] ?? "x") !== "x" || (trace["yaxis"] ?? "y") !== "y";
    const ys = column(trace["y"]);
    const found = other || ys === null ? null : points(trace["x"] === undefined ? null : column(trace["x"]), ys);
    if (found === null) return null;
    const mode = typeof trace["mode"] === "string" ? trace["mode"] : found.length < 20 ? "lines+markers" : "lines";
    const [hasLine, hasPoints] = [mode.includes("lines"), mode.includes("markers")];
    if (!isBar && !hasLine && !hasPoints) return null;
    series.push({ kind: isBar ? "bar" : hasLine && hasPoints ? "both" : hasLine ? "line" : "points", name: words(trace["name"]), points: found });
  }
  const barmode = layout["barmode"] ?? "group";
  if (barmode === "overlay" && series.filter((one) => one.kind === "bar").length > 1) return null;
  return whole({ title: words(layout["title"]), x: { title: words(xaxis["title"]) }, y: { title: words(yaxis["title"]) }, series, isStacked: barmode === "stack" || barmode === "relative" });
}

/** The values of a chart of Vega or Vega-Lite, for where it is not drawn. */
export function vegaTable(mime: string, text: string): Table | null {
  if (!/^application\/vnd\.vega/.test(mime)) return null;
  try {
    const values = vegaValues(fields(JSON.parse(text) as unknown));
    return values === null ? null : ofRecords(values);
  } catch {
    return null;
  }
}

/** The records of a chart of Vega-Lite. */
function vegaValues(spec: Fields): unknown[] | null {
  const data = fields(spec["data"]);
  const name = data["name"];
  const values = data["values"] ?? (typeof name === "string" ? fields(spec["datasets"])[name] : undefined);
  return Array.isArray(values) ? values : null;
}

const sum = (all: number[]) => all.reduce((one, other) => one + other, 0);
const AGGREGATES: { [name: string]: (all: number[]) => number } = {
  sum,
  mean: (all) => sum(all) / all.length,
  average: (all) => sum(all) / all.length,
  min: (all) => all.reduce((one, other) => Math.min(one, other)),
  max: (all) => all.reduce((one, other) => Math.max(one, other)),
  count: (all) => all.length,
};

const VEGA_MARKS: { [mark: string]: Series["kind"] } = { line: "line", bar: "bar", point: "points", circle: "points" };
const KNOWN_CHANNELS = ["x", "y", "color", "tooltip", "opacity", "href"];

function ofVegaLite(spec: Fields): Chart | null {
  if (["layer", "hconcat", "vconcat", "concat", "facet", "repeat", "transform"].some((name) => spec[name] !== undefined)) return null;
  const mark = VEGA_MARKS[typeof spec["mark"] === "string" ? spec["mark"] : String(fields(spec["mark"])["type"])];
  const encoding = fields(spec["encoding"]);
  const values = vegaValues(spec);
  if (mark === undefined || values === null || Object.keys(encoding).some((name) => !KNOWN_CHANNELS.includes(name))) return null;
  const [x, y, color] = [fields(encoding["x"]), fields(encoding["y"]), fields(encoding["color"])];
  const odd = [x, y].some((one) => one["bin"] !== undefined || one["timeUnit"] !== undefined || fields(one["scale"])["type"] !== undefined || fields(one["scale"])["reverse"] !== undefined);
  const aggregate = typeof y["aggregate"] === "string" ? AGGREGATES[y["aggregate"]] : undefined;
  if (odd || typeof x["field"] !== "string" || x["aggregate"] !== undefined || (y["aggregate"] !== undefined && aggregate === undefined)) return null;
  if (aggregate === undefined && (typeof y["field"] !== "string" || (y["type"] ?? "quantitative") !== "quantitative")) return null;
  if (mark === "bar" && x["type"] === "quantitative") return null;
  const all = values.map(fields);
  const series = aggregate === undefined && mark !== "bar" ? plain(mark, all, x, y, color) : grouped(mark, all, x, y, color, aggregate ?? sum);
  return series === null ? null : whole({ title: words(spec["title"]), ...titles(x, y), series, isStacked: mark === "bar" });
}

/** Values by the name of their series. */
function bySeries(values: Fields[], color: Fields): [string, Fields[]][] {
  const found = new Map<string, Fields[]>();
  for (const value of values) {
    const name = typeof color["field"] === "string" ? String(value[color["field"]] ?? "") : "";
    const known = found.get(name);
    if (known === undefined) found.set(name, [value]);
    else known.push(value);
  }
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1));
}

const sorted = (one: Position, other: Position) => (typeof one === "number" && typeof other === "number" ? one - other : String(one) < String(other) ? -1 : 1);

/** One point for each value. */
function plain(kind: Series["kind"], values: Fields[], x: Fields, y: Fields, color: Fields): Series[] | null {
  const series: Series[] = [];
  for (const [name, all] of bySeries(values, color)) {
    const found = points(all.map((value) => value[String(x["field"])]), all.map((value) => value[String(y["field"])]));
    if (found === null) return null;
    if (kind === "line" && x["sort"] !== null) found.sort((one, other) => sorted(one.x, other.x));
    series.push({ kind, name, points: found });
  }
  return series;
}

/** One point for all values of a place. */
function grouped(kind: Series["kind"], values: Fields[], x: Fields, y: Fields, color: Fields, join: (all: number[]) => number): Series[] | null {
  const series: Series[] = [];
  for (const [name, all] of bySeries(values, color)) {
    const places = new Map<Position, number[]>();
    for (const value of all) {
      const [at, height] = [value[String(x["field"])], typeof y["field"] === "string" ? value[y["field"]] : 1];
      if (at === null || at === undefined || height === null || height === undefined) continue;
      if ((typeof at !== "number" && typeof at !== "string") || typeof height !== "number") return null;
      const place = kind === "bar" ? String(at) : at;
      const known = places.get(place);
      if (known === undefined) places.set(place, [height]);
      else known.push(height);
    }
    const found = [...places].map(([place, heights]) => ({ x: place, y: join(heights) }));
    series.push({ kind, name, points: x["sort"] === null ? found : found.sort((one, other) => sorted(one.x, other.x)) });
  }
  return series;
}

function titles(x: Fields, y: Fields): { x: { title: string }; y: { title: string } } {
  const named = (one: Fields) => words(one["title"]) || words(one["field"]) || words(one["aggregate"]);
  return { x: { title: named(x) }, y: { title: named(y) } };
}
