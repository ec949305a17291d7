//! Figures of Plotly as charts. Pure.
//!
//! A figure is read whole or not at all: a trace, an axis or a way to draw that is not known here
//! gives nothing, and the values are shown instead. The colours are the page's own, in every figure.

import { binName, binOf, plotlyBins } from "./bins";
import { areNumbers, column, matrix, numeric } from "./column";
import { type Chart, type Fields, fields, type Grid, isNumber, isPlace, list, MOST, MOST_CELLS, MOST_SERIES, MOST_SLICES, type Order, type Pie, plane, type Point, type Position, type Series, text, timeOf, type Together, type Wish, words } from "./figure";
import { boxes, histograms, type Sample } from "./sample";

/** A title or a name without the tags that Plotly knows. */
export function plain(value: unknown): string {
  return words(value).slice(0, 2000).replace(/<br ?\/?>/gi, " ").replace(/<\/?(?:b|i|em|strong|sub|sup|span|a)(?: [^<>]{0,200})?>/gi, "");
}

/** The traces that are shown. */
export function traces(figure: Fields): Fields[] {
  return list(figure["data"]).map(fields).filter((trace) => trace["visible"] !== false && trace["visible"] !== "legendonly");
}

export function ofPlotly(figure: Fields): Chart | null {
  const all = traces(figure);
  const [first] = all;
  if (first === undefined || all.length > MOST_SERIES) return null;
  if (all.some((trace) => (trace["xaxis"] ?? "x") !== "x" || (trace["yaxis"] ?? "y") !== "y")) return null;
  const layout = fields(figure["layout"]);
  if (first["type"] === "pie") return all.length === 1 ? ofPie(first, layout) : null;
  if (first["type"] === "histogram2d") return all.length === 1 ? ofCounts(first, layout) : null;
  if (first["type"] === "heatmap") return all.length === 1 ? ofHeatmap(first, layout) : null;
  return ofTraces(all, layout);
}

function ofPie(trace: Fields, layout: Fields): Pie | null {
  const values = trace["values"] === undefined ? null : column(trace["values"]);
  const labels = trace["labels"] === undefined ? null : column(trace["labels"]);
  const [hidden, found] = [new Set(list(layout["hiddenlabels"]).map(String)), new Map<string, number>()];
  const length = (values ?? labels ?? []).length;
  if (length > MOST_SLICES || (values === null && trace["values"] !== undefined)) return null;
  for (let at = 0; at < length; at += 1) {
    const name = plain(String(labels?.[at] ?? at));
    const value = values === null ? 1 : numeric(values[at]);
    if (value !== null && value > 0 && !hidden.has(name)) found.set(name, (found.get(name) ?? 0) + value);
  }
  const slices = [...found].map(([name, value]) => ({ name, value }));
  if (trace["sort"] !== false) slices.sort((one, other) => other.value - one.value);
  return slices.length === 0 ? null : { shape: "pie", title: plain(layout["title"]) || plain(trace["title"]), hasHole: Number(trace["hole"]) > 0, slices };
}

/** Names of cells: their middles, or the edges between them. */
function cellNames(value: unknown, length: number): string[] {
  const all = value === undefined ? null : column(value);
  if (all?.length === length + 1 && all.every(isNumber)) return Array.from({ length }, (_, at) => `${String(all[at])}–${String(all[at + 1])}`);
  return Array.from({ length }, (_, at) => plain(String(all?.[at] ?? at)));
}

function ofHeatmap(trace: Fields, layout: Fields): Grid | null {
  const rows = matrix(trace["z"]);
  const [xaxis, yaxis] = [fields(layout["xaxis"]), fields(layout["yaxis"])];
  if (rows === null || rows.length === 0 || trace["transpose"] === true || isReversed(xaxis)) return null;
  const wide = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (wide === 0 || wide * rows.length > MOST_CELLS) return null;
  const cells = rows.map((row) => Array.from({ length: wide }, (_, at) => numeric(row[at])));
  const names = cellNames(trace["y"], rows.length);
  if (!cells.some((row) => row.some((value) => value !== null))) return null;
  const bar = fields(trace["colorbar"] ?? fields(layout["coloraxis"])["colorbar"]);
  return {
    shape: "grid", title: plain(layout["title"]), value: plain(bar["title"]),
    x: { title: plain(xaxis["title"]), names: cellNames(trace["x"], wide) },
    // Plotly's first row is the lowest.
    y: { title: plain(yaxis["title"]), names: isReversed(yaxis) ? names : names.reverse() },
    cells: isReversed(yaxis) ? cells : cells.reverse(),
  };
}

/** How many pairs of values are in each cell. */
function ofCounts(trace: Fields, layout: Fields): Grid | null {
  const [xaxis, yaxis] = [fields(layout["xaxis"]), fields(layout["yaxis"])];
  const [across, up] = [binsOf(trace, "x"), binsOf(trace, "y")];
  const isOther = trace["z"] !== undefined || !["", "count"].includes(text(trace["histfunc"])) || text(trace["histnorm"]) !== "" || isReversed(xaxis) || isReversed(yaxis);
  if (isOther || across === null || up === null || across.names.length * up.names.length > MOST_CELLS || across.names.length * up.names.length === 0) return null;
  const cells: (number | null)[][] = Array.from({ length: up.names.length }, () => Array.from({ length: across.names.length }, () => 0));
  for (const [at, column] of across.cells.entries()) {
    const row = cells[up.cells[at] ?? -1];
    if (row !== undefined && column >= 0) row[column] = (row[column] ?? 0) + 1;
  }
  return {
    shape: "grid", title: plain(layout["title"]), value: "count", cells: cells.reverse(),
    x: { title: plain(xaxis["title"]), names: across.names }, y: { title: plain(yaxis["title"]), names: up.names.reverse() },
  };
}

/** The cell of each value of a column, and the names of the cells. */
function binsOf(trace: Fields, axis: "x" | "y"): { names: string[]; cells: number[] } | null {
  const all = column(trace[axis]);
  if (all === null || all.length > MOST || trace[`${axis}bins`] !== undefined) return null;
  if (areNumbers(all)) {
    const numbers = all.map(numeric);
    const edges = plotlyBins(numbers.filter((value) => value !== null), Math.min(100, Number(trace[`nbins${axis}`] ?? 0) || 0), false, true);
    return edges === null ? null : { names: edges.slice(1).map((_, at) => binName(edges, at)), cells: numbers.map((value) => (value === null ? -1 : binOf(edges, value))) };
  }
  const places = new Map<string, number>();
  for (const value of all) if (isPlace(value) && !places.has(String(value))) places.set(String(value), places.size);
  return { names: [...places.keys()], cells: all.map((value) => places.get(String(value)) ?? -1) };
}

function isReversed(axis: Fields): boolean {
  const [low, high] = list(axis["range"]);
  return (typeof axis["autorange"] === "string" && axis["autorange"].includes("reversed")) || (isPlace(low) && isPlace(high) && low > high);
}

const ORDERS: ReadonlyMap<unknown, Order> = new Map<unknown, Order>([["category ascending", "up"], ["category descending", "down"], ["total ascending", "totalUp"], ["total descending", "totalDown"]]);

function wishOf(axis: Fields): Wish {
  const given = list(axis["categoryarray"]).map(String);
  return { title: plain(axis["title"]), type: text(axis["type"]), isReversed: isReversed(axis), order: ORDERS.get(axis["categoryorder"]) ?? (given.length > 0 ? given : "data") };
}

/** Whether the values of a trace are on the axis that goes to the right. */
function isFlat(trace: Fields): boolean {
  const [x, y] = [trace["x"] !== undefined, trace["y"] !== undefined];
  if (trace["orientation"] === "h" || trace["orientation"] === "v") return trace["orientation"] === "h";
  if (trace["type"] === "histogram") return y && !x;
  if (trace["q1"] !== undefined) return y && !x;
  return x && (!y || (trace["type"] === "box" && !areNumbers(column(trace["y"]) ?? [])));
}

const isLine = (trace: Fields) => ["scatter", "scattergl"].includes(String(trace["type"] ?? "scatter"));

function ofTraces(all: Fields[], layout: Fields): Chart | null {
  const others = all.filter((trace) => !isLine(trace));
  if (others.some((trace) => !["bar", "histogram", "box"].includes(String(trace["type"])))) return null;
  const isText = (value: unknown) => value !== undefined && !areNumbers(column(value) ?? []);
  const flat = others.length > 0 ? isFlat(others[0] as Fields) : all.every((trace) => isText(trace["y"]) && trace["x"] !== undefined && !isText(trace["x"]));
  if (others.some((trace) => isFlat(trace) !== flat)) return null;
  const [places, values] = flat ? ["y", "x"] as const : ["x", "y"] as const;
  const [x, y] = [wishOf(fields(layout[`${places}axis`])), wishOf(fields(layout[`${values}axis`]))];
  // Bars from one date to another, as Plotly Express makes a timeline.
  const isTimeline = y.type === "date" && flat && all.every((trace) => trace["type"] === "bar" && trace["base"] !== undefined);
  if ((!["", "-", "linear", "log"].includes(y.type) && !isTimeline) || x.type === "multicategory") return null;
  const barmode = layout["barmode"] ?? "group";
  let together: Together = barmode === "stack" || barmode === "relative" ? "stack" : barmode === "overlay" ? "overlay" : "group";
  if (together === "stack" && text(layout["barnorm"]) !== "") together = "share";
  if (others.some((trace) => trace["type"] === "box")) {
    if (others.some((trace) => trace["type"] !== "box")) return null;
    together = layout["boxmode"] === "group" ? "group" : "overlay";
  }
  if (layout["barnorm"] !== undefined && layout["barnorm"] !== "" && together !== "share") return null;
  const stacks = all.filter((trace) => isLine(trace) && text(trace["stackgroup"]) !== "");
  if (stacks.length > 0) {
    const norms = stacks.some((trace) => text(trace["groupnorm"]) !== "");
    if (flat || others.length > 0 || stacks.some((trace) => trace["stackgroup"] !== stacks[0]?.["stackgroup"])) return null;
    together = norms ? "share" : "stack";
  }

  const samples: Sample[] = all.map((trace, at) => ({
    trace, name: plain(trace["name"]) || (all.length > 1 ? `trace ${at}` : ""),
    places: trace[places] === undefined ? null : column(trace[places]), values: trace[values] === undefined ? null : column(trace[values]),
  }));
  if (samples.some(({ trace, places: one, values: other }) => (one === null && trace[places] !== undefined) || (other === null && trace[values] !== undefined))) return null;
  const counted = histograms(samples.filter(({ trace }) => trace["type"] === "histogram"), x.type, places);
  if (counted === null) return null;
  const series: Series[] = [];
  for (const sample of samples) {
    const { trace } = sample;
    const found = trace["type"] === "histogram" ? counted.found.get(sample) ?? null : trace["type"] === "box" ? boxes(sample) : trace["type"] === "bar" ? bars(sample, values) : lines(sample, values, series);
    if (found === null) return null;
    series.push(found);
  }
  const lined = [...series, ...list(layout["shapes"]).slice(0, MOST_SERIES).flatMap((shape) => shapeLine(fields(shape), flat))];
  // Bars with a beginning of their own do not stand on each other.
  if (others.some((trace) => trace["base"] !== undefined) && together !== "overlay") together = together === "group" ? "group" : "overlay";
  const heat = fields(fields(fields(layout["coloraxis"])["colorbar"])["title"]);
  return plane({ title: plain(layout["title"]), x: counted.areTimes ? { ...x, type: "date" } : x, y, series: lined, together, isFlat: flat, heat: plain(heat) });
}

/** The points of a trace, with the row that each comes from. */
function points(sample: Sample): { points: Point[]; rows: number[] } | null {
  const { trace, places, values } = sample;
  if (values === null || !areNumbers(values)) return null;
  const found: Point[] = [];
  const rows: number[] = [];
  let isNew = false;
  const [first, step] = [isNumber(trace["x0"]) ? trace["x0"] : 0, isNumber(trace["dx"]) ? trace["dx"] : 1];
  for (const [at, value] of values.entries()) {
    const given = places === null ? first + at * step : places[at];
    if (typeof given === "object" && given !== null) return null;
    const x: unknown = typeof given === "boolean" ? String(given) : given;
    const y = numeric(value);
    if (y === null || !isPlace(x)) {
      isNew = trace["connectgaps"] !== true && found.length > 0;
      continue;
    }
    found.push(isNew ? { x, y, isNew } : { x, y });
    rows.push(at);
    isNew = false;
  }
  return { points: found, rows };
}

/** How far values may be off, if the trace says it. */
function withErrors(trace: Fields, name: string, found: { points: Point[]; rows: number[] }): Point[] {
  const error = fields(trace[name]);
  const size = Number(error["value"]);
  const [above, below] = [column(error["array"]), error["symmetric"] === false || error["arrayminus"] !== undefined ? column(error["arrayminus"]) : null];
  if (error["visible"] === false || Object.keys(error).length === 0) return found.points;
  return found.points.map((point, at) => {
    const row = found.rows[at] as number;
    const plus = error["type"] === "percent" ? Math.abs(point.y) * size / 100 : error["type"] === "constant" ? size : error["type"] === "sqrt" ? Math.sqrt(Math.abs(point.y)) : numeric(above?.[row]);
    const minus = below === null ? plus : numeric(below[row]);
    return isNumber(plus) || isNumber(minus) ? { ...point, error: [Math.abs(minus ?? 0), Math.abs(plus ?? 0)] } : point;
  });
}

function bars(sample: Sample, values: "x" | "y"): Series | null {
  const { trace, name } = sample;
  const found = points(sample);
  if (found === null) return null;
  const all = withErrors(trace, `error_${values}`, found).map(({ isNew: _, ...point }) => point);
  if (trace["base"] === undefined) return { kind: "bar", name, points: all };
  const bases = column(trace["base"]);
  const based = all.flatMap((point, at) => {
    const base = bases?.[found.rows[at] as number];
    const from = typeof base === "string" ? timeOf(base) : numeric(base);
    return from === null || !isNumber(from + point.y) ? [] : [{ ...point, from, y: from + point.y }];
  });
  return based.length === all.length ? { kind: "bar", name, points: based } : null;
}

function lines(sample: Sample, values: "x" | "y", before: Series[]): Series | null {
  const { trace, name } = sample;
  const read = points(sample);
  if (read === null) return null;
  const found = { points: withErrors(trace, `error_${values}`, read), rows: read.rows };
  const fill = text(trace["fill"]);
  const isStacked = text(trace["stackgroup"]) !== "";
  if (isStacked || (fill !== "" && fill !== "none")) {
    const wanted = [`tozero${values}`, `tonext${values}`];
    if (trace["orientation"] === "h" || (!isStacked && !wanted.includes(fill))) return null;
    if (isStacked) return { kind: "area", name, points: found.points };
    const base = fill === wanted[1] ? before[before.length - 1] : undefined;
    if (base === undefined) return { kind: "area", name, points: found.points.map((point) => ({ ...point, from: 0 })) };
    const heights = new Map<Position, number>(base.points.map((point) => [point.x, point.y]));
    const filled = found.points.filter(({ x }) => heights.has(x)).map((point) => ({ ...point, from: heights.get(point.x) as number }));
    return filled.length === found.points.length ? { kind: "area", name, points: filled } : null;
  }
  const mode = typeof trace["mode"] === "string" ? trace["mode"] : found.points.length < 20 ? "lines+markers" : "lines";
  const [hasLine, hasPoints] = [mode.includes("lines"), mode.includes("markers")];
  if (!hasLine && !hasPoints) return null;
  const kind = hasLine && hasPoints ? "both" : hasLine ? "line" : "points";
  return { kind, name, points: kind === "points" ? withMarkers(fields(trace["marker"]), found.points, found.rows) : found.points };
}

/** Points whose size or colour is a value. */
function withMarkers(marker: Fields, all: Point[], rows: number[]): Point[] {
  const [sizes, heats] = [column(marker["size"]), column(marker["color"])];
  const isHeat = heats !== null && areNumbers(heats);
  if (sizes === null && !isHeat) return all.map(({ isNew: _, ...point }) => point);
  return all.map(({ isNew: _, ...point }, at) => {
    const row = rows[at] as number;
    const [size, heat] = [numeric(sizes?.[row]), isHeat ? numeric(heats[row]) : null];
    return { ...point, ...(size === null ? {} : { size: Math.max(0, size) }), ...(heat === null ? {} : { heat }) };
  });
}

/** A line through the whole chart, as `add_hline` and `add_vline` make it. */
function shapeLine(shape: Fields, flat: boolean): Series[] {
  if (shape["type"] !== "line" || shape["visible"] === false) return [];
  const through = (axis: "x" | "y") => [`${axis} domain`, "paper"].includes(text(shape[`${axis}ref`]));
  const at = (axis: "x" | "y") => (shape[`${axis}0`] === shape[`${axis}1`] && (shape[`${axis}ref`] ?? axis) === axis ? shape[`${axis}0`] : undefined);
  const name = plain(fields(shape["label"])["text"]);
  for (const [axis, other] of [["y", "x"], ["x", "y"]] as const) {
    const value = at(axis);
    if (!through(other) || value === undefined) continue;
    const isRule = (axis === "y") !== flat;
    if (isRule && isNumber(value)) return [{ kind: "rule", name, points: [{ x: "", y: value }] }];
    if (!isRule && (isNumber(value) || timeOf(value) !== null)) return [{ kind: "post", name, points: [{ x: value as Position, y: 0 }] }];
  }
  return [];
}
