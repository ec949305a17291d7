//! The marks of a chart with axes as paths: one for all marks of a series that look the same. Pure.

import type { Plane, Point, Position, Series } from "./figure";
import { levelClass, levelOf, type Levels } from "./level";
import { type Scale, type Span, spans } from "./scale";

/** Pixels of the largest point that has a size. */
const LARGEST = 16;

export interface MarksOf {
  chart: Plane;
  x: Scale;
  y: Scale;
  inner: { width: number; height: number };
  levels: Levels | null;
}

interface Pen {
  chart: Plane;
  x: Scale;
  y: Scale;
  /** A pixel along the places and one along the values, as a pixel of the drawing. */
  at(place: number, value: number): string;
}

/** The marks of each series: their classes, each with its path. */
export function pathsOf({ chart, x, y, inner, levels }: MarksOf): [string, string][][] {
  const at = (place: number, value: number) => (chart.isFlat ? `${value.toFixed(1)} ${place.toFixed(1)}` : `${place.toFixed(1)} ${value.toFixed(1)}`);
  const pen: Pen = { chart, x, y, at };
  const wide = chart.series.filter((one) => one.kind === "bar" || one.kind === "box");
  const all = spans(chart);
  const largest = chart.series.reduce((most, one) => one.points.reduce((size, point) => Math.max(size, point.size ?? 0), most), 0);
  return chart.series.map((one, index) => {
    const slots = chart.together === "group" ? wide.length : 1;
    const room = { slots, slot: slots > 1 ? wide.indexOf(one) : 0, largest, levels, place: chart.isFlat ? inner.height : inner.width, value: chart.isFlat ? inner.width : inner.height };
    return paths(one, all[index] ?? [], pen, room).filter(([, path]) => path !== "");
  });
}

interface Room {
  slots: number;
  slot: number;
  largest: number;
  levels: Levels | null;
  /** Pixels along the places and along the values. */
  place: number;
  value: number;
}

/** The classes of a series' marks, each with its path. */
function paths(one: Series, all: Span[], pen: Pen, room: Room): [string, string][] {
  const errors = one.points.some(({ error }) => error !== undefined) ? [["error", errorPath(one, all, pen, room)] as [string, string]] : [];
  switch (one.kind) {
    case "bar": return [["bars", barPath(all, pen, room)], ...errors];
    case "box": return boxPaths(one, pen, room);
    case "area": return [["area", areaPath(all, pen)], ["line", linePath(all.map(({ point, to }) => ({ ...point, y: to })), pen)], ...errors];
    case "line": return [["line", linePath(one.points, pen)], ...errors];
    case "both": return [["line", linePath(one.points, pen)], ["points", dotPath(one.points, pen)], ...errors];
    case "points": return [...errors, ...pointPaths(one.points, pen, room)];
    case "tick": return [["line", tickPath(one.points, pen)]];
    case "span": return [["line", visible(one.points, pen).map(([place, value, point]) => `M${pen.at(place, pen.y.place(point.from ?? point.y))}L${pen.at(place, value)}`).join("")]];
    case "rule": return [["rule", one.points.map((point) => `M${pen.at(0, pen.y.place(point.y))}L${pen.at(room.place, pen.y.place(point.y))}`).join("")]];
    case "post": return [["rule", visible(one.points, pen).map(([place]) => `M${pen.at(place, 0)}L${pen.at(place, room.value)}`).join("")]];
  }
}

/** Points that have a place in the drawing, with their pixels. */
function visible(points: Point[], { x, y }: Pen): [number, number, Point][] {
  return points.map((point): [number, number, Point] => [x.place(point.x), y.place(point.y), point]).filter(([place, value]) => Number.isFinite(place) && Number.isFinite(value));
}

function linePath(points: Point[], pen: Pen): string {
  return visible(points, pen).map(([place, value, { isNew }], at) => `${at === 0 || isNew === true ? "M" : "L"}${pen.at(place, value)}${isNew === true ? "h0" : ""}`).join("");
}

const dotPath = (points: Point[], pen: Pen): string => visible(points, pen).map(([place, value]) => `M${pen.at(place, value)}h0`).join("");

/** Points, by the colour that their value has, and by size if they have one. */
function pointPaths(points: Point[], pen: Pen, { largest, levels }: Room): [string, string][] {
  const found = new Map<string, string[]>();
  for (const [place, value, { size, heat }] of visible(points, pen)) {
    const colour = heat === undefined || levels === null ? "" : ` ${levelClass(levels, levelOf(levels, heat))}`;
    // A pale colour needs an edge, so such a point is a circle and no dot.
    const isCircle = (size !== undefined && largest > 0) || colour !== "";
    const radius = size !== undefined && largest > 0 ? Math.max(2, Math.sqrt(Math.max(0, size) / largest) * LARGEST) : 4;
    const path = isCircle ? `M${pen.at(place, value)}m${-radius.toFixed(1)} 0${circle(radius)}` : `M${pen.at(place, value)}h0`;
    const name = `${isCircle ? "bubbles" : "points"}${colour === "" ? "" : ` edged${colour}`}`;
    const known = found.get(name);
    if (known === undefined) found.set(name, [path]);
    else known.push(path);
  }
  return [...found].map(([name, all]) => [name, all.join("")]);
}

function circle(radius: number): string {
  const [one, two] = [radius.toFixed(1), (radius * 2).toFixed(1)];
  return `a${one} ${one} 0 1 0 ${two} 0a${one} ${one} 0 1 0 -${two} 0z`;
}

/** Where a bar or a box is along the places. */
function slotOf(point: Point, x: Scale, { slots, slot }: Room): [number, number] {
  const [low, high] = point.end === undefined ? [x.place(point.x) - x.step * 0.4, x.place(point.x) + x.step * 0.4] : [x.place(point.x), x.place(point.end)].sort((one, other) => one - other) as [number, number];
  const width = (high - low) / slots;
  const from = low + slot * width;
  return [from, from + Math.max(1, width - (width > 4 ? 1 : 0))];
}

function barPath(all: Span[], { x, y, at }: Pen, room: Room): string {
  return all.map(({ point, from, to }) => {
    const [left, right] = slotOf(point, x, room);
    const [base, end] = [y.place(from), y.place(to)];
    return Number.isFinite(left + right + base + end) ? `M${at(left, base)}L${at(left, end)}L${at(right, end)}L${at(right, base)}z` : "";
  }).join("");
}

function areaPath(all: Span[], pen: Pen): string {
  const { x, y, at } = pen;
  const runs: Span[][] = [];
  for (const span of all) {
    if (runs.length === 0 || span.point.isNew === true) runs.push([]);
    runs[runs.length - 1]?.push(span);
  }
  const side = (run: Span[], end: (span: Span) => number) => run.map((span) => at(x.place(span.point.x), y.place(end(span))));
  return runs.map((run) => `M${[...side(run, ({ to }) => to), ...side([...run].reverse(), ({ from }) => from)].join("L")}z`).filter((path) => !path.includes("NaN")).join("");
}

function tickPath(points: Point[], pen: Pen): string {
  const half = pen.x.step > 0 ? Math.min(14, pen.x.step * 0.35) : 7;
  return visible(points, pen).map(([place, value]) => `M${pen.at(place - half, value)}L${pen.at(place + half, value)}`).join("");
}

function errorPath(one: Series, all: Span[], pen: Pen, room: Room): string {
  const ends = new Map(all.map(({ point, to }) => [point, to]));
  const middle = (point: Point): number => {
    if (one.kind !== "bar") return pen.x.place(point.x);
    const [left, right] = slotOf(point, pen.x, room);
    return (left + right) / 2;
  };
  return one.points.map((point) => {
    if (point.error === undefined) return "";
    const end = ends.get(point) ?? point.y;
    const [place, low, high] = [middle(point), pen.y.place(end - point.error[0]), pen.y.place(end + point.error[1])];
    if (!Number.isFinite(place + low + high)) return "";
    return `M${pen.at(place, low)}L${pen.at(place, high)}M${pen.at(place - 3, low)}L${pen.at(place + 3, low)}M${pen.at(place - 3, high)}L${pen.at(place + 3, high)}`;
  }).join("");
}

function boxPaths(one: Series, { x, y, at }: Pen, room: Room): [string, string][] {
  const [bodies, lines, dots]: [string[], string[], string[]] = [[], [], []];
  for (const { x: place, box } of one.points as { x: Position; box?: Point["box"] }[]) {
    if (box === undefined) continue;
    const [from, to] = slotOf({ x: place, y: 0 }, x, room);
    const [middle, half] = [(from + to) / 2, Math.min(30, (to - from) / 2)];
    const [low, first, mid, third, high] = [box.low, box.first, box.middle, box.third, box.high].map((value) => y.place(value)) as [number, number, number, number, number];
    if (!Number.isFinite(middle + low + first + mid + third + high)) continue;
    const [left, right] = [middle - half, middle + half];
    bodies.push(`M${at(left, first)}L${at(left, third)}L${at(right, third)}L${at(right, first)}z`);
    for (const [end, start] of [[low, first], [high, third]] as const) lines.push(`M${at(middle, start)}L${at(middle, end)}M${at(middle - half / 2, end)}L${at(middle + half / 2, end)}`);
    lines.push(`M${at(left, mid)}L${at(right, mid)}`);
    for (const value of box.outliers) dots.push(`M${at(middle, y.place(value))}h0`);
  }
  return [["box", bodies.join("")], ["line", lines.join("")], ["points", dots.join("")]];
}
