//! Charts as plain values: which kinds the page draws, and how much of each. Pure.
//!
//! Readers of other formats make these values, and views draw them. Must not know either.

export type Position = number | string;
export type AxisKind = "number" | "log" | "time" | "category";

export interface Axis {
  title: string;
  kind: AxisKind;
  isReversed: boolean;
  /** Names of the places of categories, in their order. */
  names: string[];
}

export interface Box {
  low: number;
  first: number;
  middle: number;
  third: number;
  high: number;
  outliers: number[];
}

export interface Point {
  x: Position;
  y: number;
  /** A line begins anew here, because values before it are missing. */
  isNew?: boolean;
  /** Where a bin ends that begins at `x`. */
  end?: number;
  /** Where an area or a span begins that ends at `y`. */
  from?: number;
  /** How far the value may be below and above. */
  error?: [number, number];
  /** A value that the size of the point shows. */
  size?: number;
  /** A value that the colour of the point shows. */
  heat?: number;
  box?: Box;
}

/** A `rule` goes through the whole chart at `y`, and a `post` at `x`. */
export type Mark = "line" | "points" | "both" | "bar" | "area" | "box" | "tick" | "span" | "rule" | "post";

export interface Series {
  kind: Mark;
  name: string;
  points: Point[];
}

/** Bars and areas of one place: beside each other, before each other, on each other, as shares. */
export type Together = "group" | "overlay" | "stack" | "share";

/** A chart with axes: `x` has the places, `y` the values. */
export interface Plane {
  shape: "plane";
  title: string;
  x: Axis;
  y: Axis;
  series: Series[];
  together: Together;
  /** The places are drawn upwards, so bars lie. */
  isFlat: boolean;
  /** The title of the values that colours of points show. */
  heat: string;
}

export interface Pie {
  shape: "pie";
  title: string;
  hasHole: boolean;
  slices: { name: string; value: number }[];
}

/** Values as colours of cells, the first row on top. */
export interface Grid {
  shape: "grid";
  title: string;
  x: { title: string; names: string[] };
  y: { title: string; names: string[] };
  value: string;
  cells: (number | null)[][];
}

export type Chart = Plane | Pie | Grid;

/** Points, series, cells, slices and bins of a chart at most. */
export const MOST = 200_000;
export const MOST_SERIES = 24;
export const MOST_CELLS = 60_000;
export const MOST_SLICES = 10_000;
export const MOST_BINS = 2_000;
/** Numbers beyond this are no values: a difference of two must be a number. */
const LARGEST = 1e150;

export type Fields = { [field: string]: unknown };

export const fields = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? value as Fields : {});
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
/** A title: the text, its lines, or an object that has it. */
export const words = (value: unknown): string => text(value) || list(value).map(text).join(" ") || text(fields(value)["text"]);
export const isNumber = (value: unknown): value is number => typeof value === "number" && Math.abs(value) <= LARGEST;
export const isPlace = (value: unknown): value is Position => typeof value === "string" || isNumber(value);

/** Names as a person sorts them: numbers by their size. */
export function inOrder(one: Position, other: Position): number {
  const [left, right] = [one === "" ? NaN : Number(one), other === "" ? NaN : Number(other)];
  if (!Number.isNaN(left) && !Number.isNaN(right)) return left - right;
  return String(one) < String(other) ? -1 : String(one) > String(other) ? 1 : 0;
}

/** A date as milliseconds. It is read as it is written: a zone in it moves nothing. */
export function timeOf(value: unknown): number | null {
  if (isNumber(value)) return Math.abs(value) < 8e15 ? value : null;
  const found = typeof value === "string" && value.length < 40 ? /^(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?$/.exec(value) : null;
  if (found === null) return null;
  const part = (at: number, other: number) => Number(found[at] ?? other);
  const time = Date.UTC(part(1, 0), part(2, 1) - 1, part(3, 1), part(4, 0), part(5, 0), part(6, 0), Math.floor(part(7, 0) * 1000));
  return Number.isNaN(time) ? null : time;
}

/** A time as text, without the parts that say nothing. */
export function timeText(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().replace(/(?:T00:00:00)?(?:\.000)?Z$/, "").replace("T", " ");
}

/** In which order categories stand. */
export type Order = "data" | "up" | "down" | "totalUp" | "totalDown" | string[];

/** An axis as its description wants it. */
export interface Wish {
  title: string;
  type: string;
  isReversed: boolean;
  order: Order;
}

function kindOf(wish: Wish, all: Point[]): AxisKind {
  if (wish.type === "category") return "category";
  if (all.every(({ x }) => typeof x === "number")) return wish.type === "date" ? "time" : wish.type === "log" ? "log" : "number";
  return all.every(({ x }) => typeof x === "string" && timeOf(x) !== null) ? "time" : "category";
}

function namesOf(order: Order, all: Point[]): string[] {
  const totals = new Map<string, number>(Array.isArray(order) ? order.map((name) => [name, 0]) : []);
  for (const { x, y } of all) totals.set(String(x), (totals.get(String(x)) ?? 0) + y);
  const found = [...totals];
  if (order === "up") found.sort(([one], [other]) => inOrder(one, other));
  if (order === "down") found.sort(([one], [other]) => inOrder(other, one));
  if (order === "totalUp") found.sort(([, one], [, other]) => one - other);
  if (order === "totalDown") found.sort(([, one], [, other]) => other - one);
  const here = new Set(all.map(({ x }) => String(x)));
  return found.map(([name]) => name).filter((name) => here.has(name));
}

/** A chart with the kinds of its axes found, or `null` if it is empty or too large. */
export function plane(wish: Omit<Plane, "shape" | "x" | "y" | "heat"> & { x: Wish; y: Wish; heat?: string }): Plane | null {
  const isLog = wish.y.type === "log";
  const shown = wish.series.map((one) => ({ ...one, points: one.kind === "post" ? one.points : positive(one.points, isLog, ({ y }) => y) }));
  const placed = shown.filter((one) => one.kind !== "rule").flatMap((one) => one.points);
  const all = shown.reduce((count, one) => count + one.points.length, 0);
  if (all === 0 || all > MOST || shown.length > MOST_SERIES) return null;
  const kind = kindOf(wish.x, placed);
  const place = (x: Position): Position => (kind === "time" ? timeOf(x) ?? 0 : kind === "category" ? String(x) : x);
  const series = shown.map((one) => ({ ...one, points: one.kind === "rule" ? one.points : positive(one.points, kind === "log", ({ x }) => Number(x)).map((point) => ({ ...point, x: place(point.x) })) }));
  if (series.every((one) => one.points.length === 0)) return null;
  const { title, isReversed } = wish.x;
  return {
    shape: "plane", title: wish.title, series, together: wish.together, isFlat: wish.isFlat, heat: wish.heat ?? "",
    x: { title, kind, isReversed, names: kind === "category" ? namesOf(wish.x.order, placed) : [] },
    y: { title: wish.y.title, kind: isLog ? "log" : wish.y.type === "date" ? "time" : "number", isReversed: wish.y.isReversed, names: [] },
  };
}

/** The points that a logarithm has a place for. */
function positive(points: Point[], isLog: boolean, value: (point: Point) => number): Point[] {
  if (!isLog) return points;
  const found: Point[] = [];
  let isNew = false;
  for (const point of points) {
    if (value(point) > 0) {
      found.push(isNew && found.length > 0 ? { ...point, isNew } : point);
      isNew = false;
    } else isNew = true;
  }
  return found;
}
