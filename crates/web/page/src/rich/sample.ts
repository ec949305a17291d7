//! Traces of Plotly that say something about many values: histograms and boxes. Pure.

import { binOf, boxOf, type Edges, extent, givenBins, JOINS, plotlyBins, times } from "./bins";
import { areNumbers, column, numeric } from "./column";
import { type Fields, fields, isNumber, type Point, type Series, text, timeOf } from "./figure";

/** A trace with its columns: `places` are on the axis of places. */
export interface Sample {
  trace: Fields;
  name: string;
  places: unknown[] | null;
  values: unknown[] | null;
}

const isTime = (value: unknown) => typeof value === "string" && timeOf(value) !== null;

/** The bins that all histograms of a figure share, or `null` if there can be none. */
function edgesOf(all: Sample[], found: number[], areTimes: boolean, axis: "x" | "y"): Edges | null {
  const given = fields(all.map(({ trace }) => trace[`${axis}bins`]).find((one) => one !== undefined));
  const [low, high] = extent(found);
  const most = Number(all.map(({ trace }) => trace[`nbins${axis}`]).find(isNumber) ?? 0);
  const size = given["size"];
  if (areTimes) {
    const months = /^M(\d{1,3})$/.exec(text(size));
    const wanted = months === null ? numeric(size) : Number(months[1]) * 30.4 * 86_400_000;
    return wanted === null || !(wanted > 0) ? plotlyBins(found, most, true) : times(low, high, Math.max(wanted, (high - low) / 1000));
  }
  if (!isNumber(size)) return plotlyBins(found, most, false);
  const start = isNumber(given["start"]) ? given["start"] : Math.floor(low / size) * size;
  return givenBins(start, isNumber(given["end"]) ? given["end"] : high + size * 1e-3, size);
}

/** Histograms, by their traces; `null` if one of them cannot be read. */
export function histograms(all: Sample[], type: string, axis: "x" | "y"): { found: Map<Sample, Series>; areTimes: boolean } | null {
  const found = new Map<Sample, Series>();
  const values = all.flatMap(({ places }) => places ?? []).filter((value) => value !== null && value !== undefined);
  if (type === "log" && all.length > 0) return null;
  const areTimes = type !== "category" && values.length > 0 && values.every(isTime);
  const isCounted = type !== "category" && areNumbers(values);
  const read = (value: unknown): number | null => (areTimes ? timeOf(value) : numeric(value));
  const numbers = areTimes || isCounted ? values.map(read).filter((value) => value !== null) : [];
  const edges = areTimes || isCounted ? edgesOf(all, numbers, areTimes, axis) : null;
  for (const sample of all) {
    const points = edges === null ? (areTimes || isCounted ? null : counted(sample)) : binned(sample, edges, read);
    if (points === null) return null;
    found.set(sample, { kind: "bar", name: sample.name, points });
  }
  return { found, areTimes };
}

/** The value that one row adds to its bin. */
function added({ trace, values }: Sample, at: number): number | null {
  return values === null || (trace["histfunc"] ?? "count") === "count" ? 1 : numeric(values[at]);
}

function joined(trace: Fields, bins: (number[] | undefined)[], widths: number[]): (number | null)[] | null {
  const join = JOINS.get(text(trace["histfunc"]) || "count");
  if (join === undefined) return null;
  const isSum = ["", "count", "sum"].includes(text(trace["histfunc"]));
  const heights = bins.map((all) => (all === undefined || all.length === 0 ? isSum ? 0 : null : join(all)));
  const total = heights.reduce((one: number, other) => one + (other ?? 0), 0);
  const norm = text(trace["histnorm"]);
  if (fields(trace["cumulative"])["enabled"] === true) {
    if (norm.includes("density") || fields(trace["cumulative"])["direction"] === "decreasing") return null;
    let before = 0;
    for (const [at, height] of heights.entries()) heights[at] = before += height ?? 0;
  }
  return heights.map((height, at) => {
    if (height === null) return null;
    const share = norm.startsWith("probability") ? height / total : norm === "percent" ? height / total * 100 : height;
    return norm.endsWith("density") ? share / (widths[at] as number) : share;
  });
}

function binned(sample: Sample, edges: Edges, read: (value: unknown) => number | null): Point[] | null {
  const bins: number[][] = Array.from({ length: edges.length - 1 }, () => []);
  for (const [at, place] of (sample.places ?? []).entries()) {
    const [value, more] = [read(place), added(sample, at)];
    const bin = value === null ? -1 : binOf(edges, value);
    if (bin >= 0 && more !== null) bins[bin]?.push(more);
  }
  const heights = joined(sample.trace, bins, bins.map((_, at) => (edges[at + 1] as number) - (edges[at] as number)));
  return heights === null ? null : heights.flatMap((y, at) => (isNumber(y) ? [{ x: edges[at] as number, y, end: edges[at + 1] as number }] : []));
}

/** How often each category is there. */
function counted(sample: Sample): Point[] | null {
  const places = new Map<string, number[]>();
  for (const [at, place] of (sample.places ?? []).entries()) {
    const more = added(sample, at);
    if (place === null || place === undefined || more === null) continue;
    if (typeof place === "object") return null;
    const known = places.get(String(place));
    if (known === undefined) places.set(String(place), [more]);
    else known.push(more);
  }
  const heights = joined(sample.trace, [...places.values()], [...places].map(() => 1));
  return heights === null ? null : [...places.keys()].flatMap((x, at) => (isNumber(heights[at]) ? [{ x, y: heights[at] }] : []));
}

/** Boxes of a trace: of its values, or as they were computed already. */
export function boxes(sample: Sample): Series | null {
  const { trace, name, places, values } = sample;
  const place = (at: number): string | number => {
    const one = places?.[at];
    return isNumber(one) || typeof one === "string" ? one : name;
  };
  const points: Point[] = [];
  if (trace["q1"] !== undefined) {
    const [low, first, middle, third, high] = ["lowerfence", "q1", "median", "q3", "upperfence"].map((one) => column(trace[one])) as (unknown[] | null)[];
    for (const [at, value] of (middle ?? []).entries()) {
      const [one, mid, other] = [numeric(first?.[at]), numeric(value), numeric(third?.[at])];
      if (one === null || mid === null || other === null) continue;
      points.push({ x: place(at), y: mid, box: { low: numeric(low?.[at]) ?? one, first: one, middle: mid, third: other, high: numeric(high?.[at]) ?? other, outliers: [] } });
    }
    return { kind: "box", name, points };
  }
  if (values === null || !areNumbers(values)) return null;
  const groups = new Map<string | number, number[]>();
  for (const [at, value] of values.entries()) {
    const number = numeric(value);
    if (number === null) continue;
    const known = groups.get(place(at));
    if (known === undefined) groups.set(place(at), [number]);
    else known.push(number);
  }
  // Plotly Express makes a strip of points from a box that is not seen.
  if (trace["boxpoints"] === "all" && /^rgba\([\d, ]{1,20},\s*0\)$/.test(text(trace["fillcolor"]))) {
    return { kind: "tick", name, points: [...groups].flatMap(([x, all]) => all.map((y) => ({ x, y }))) };
  }
  for (const [x, all] of groups) {
    const box = boxOf(all, true);
    if (box === null) continue;
    const [low, high] = extent(all);
    points.push({ x, y: box.middle, box: trace["boxpoints"] === false ? { ...box, low, high, outliers: [] } : box });
  }
  return { kind: "box", name, points };
}
