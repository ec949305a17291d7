//! Where the values of a chart stand: scales, ticks, and bars and areas on each other. Pure.

import { extent, times } from "./bins";
import type { Axis, AxisKind, Plane, Point, Position, Series } from "./figure";

export interface Scale {
  kind: AxisKind;
  low: number;
  high: number;
  /** Names of the places, of a scale of categories. */
  names: string[];
  /** Pixels from one place to the next. */
  step: number;
  /** The pixel of a value; not a number if it has none. */
  place(value: Position): number;
}

/** Ticks of an axis at most. */
const MOST_TICKS = 60;

/** A number that is easy to read, of about this size. */
function nice(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size));
  const part = size / power;
  return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/** The ends of an axis, which are never the same. */
function ends([low, high]: [number, number]): [number, number] {
  if (low > high) return [0, 1];
  // A difference that is lost in rounding is none.
  if (high - low > Math.max(Math.abs(low), Math.abs(high)) * 1e-12 && high - low > 1e-300) return [low, high];
  return Math.abs(low) < 1e-290 ? [0, 1] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2];
}

/** A bar or an area of a series: where it begins and ends. */
export interface Span {
  point: Point;
  from: number;
  to: number;
}

const stands = (one: Series) => one.kind === "bar" || one.kind === "area";

/** The bars and areas of all series, in their order. Others have none. */
export function spans(chart: Plane): Span[][] {
  const isOn = chart.together === "stack" || chart.together === "share";
  const totals = new Map<Position, number>();
  if (chart.together === "share") {
    for (const one of chart.series.filter(stands)) for (const { x, y } of one.points) totals.set(x, (totals.get(x) ?? 0) + Math.abs(y));
  }
  const ups = new Map<Position, number>();
  const downs = new Map<Position, number>();
  return chart.series.map((one) => (!stands(one) ? [] : one.points.map((point) => {
    if (!isOn || point.from !== undefined) return { point, from: point.from ?? 0, to: point.y };
    const height = chart.together === "share" ? (point.y / (totals.get(point.x) || 1)) * 100 : point.y;
    const bases = height >= 0 ? ups : downs;
    const from = bases.get(point.x) ?? 0;
    bases.set(point.x, from + height);
    return { point, from, to: from + height };
  })));
}

/** Every height that a chart has to show. */
function* heightsOf(chart: Plane, all: Span[][]): Generator<number> {
  for (const [at, one] of chart.series.entries()) {
    if (one.kind === "post") continue;
    for (const { from, to } of all[at] ?? []) yield* [from, to];
    for (const { y, from, error, box } of one.points) {
      if (!stands(one)) yield y;
      if (one.kind === "span" && from !== undefined) yield from;
      if (error !== undefined) yield* [y - error[0], y + error[1]];
      if (box !== undefined) yield* [box.low, box.high, ...box.outliers];
    }
  }
}

function* placesOf(chart: Plane): Generator<number> {
  for (const one of chart.series) {
    if (one.kind === "rule") continue;
    for (const { x, end } of one.points) {
      yield Number(x);
      if (end !== undefined) yield end;
    }
  }
}

/** A straight scale from one pixel to another. */
function straight(axis: Axis, [low, high]: [number, number], from: number, to: number, step = 0): Scale {
  const [first, last] = axis.isReversed ? [to, from] : [from, to];
  const isLog = axis.kind === "log";
  const [bottom, top] = isLog ? [Math.log10(low), Math.log10(high)] : [low, high];
  const place = (value: Position): number => {
    const at = isLog ? Number(value) > 0 ? Math.log10(Number(value)) : bottom : Number(value);
    return first + ((at - bottom) / (top - bottom)) * (last - first);
  };
  return { kind: axis.kind, low, high, names: [], step, place };
}

/** Powers of ten around positive values, or the values if they are close to each other. */
function logEnds(values: Iterable<number>): [number, number] {
  const [low, high] = extent((function* () {
    for (const value of values) if (value > 0) yield value;
  })());
  if (low > high) return [1, 10];
  if (high / low < 10) return [low / 1.2, high * 1.2];
  return [10 ** Math.floor(Math.log10(low) + 1e-9), 10 ** Math.ceil(Math.log10(high) - 1e-9)];
}

/** The scale of the values, from one pixel to another. */
function valueScale(chart: Plane, from: number, to: number): Scale {
  const heights = [...heightsOf(chart, spans(chart))];
  if (chart.y.kind === "log") return straight(chart.y, logEnds(heights), from, to);
  const hasZero = chart.series.some((one) => stands(one) && one.points.some(({ from }) => from === undefined || from === 0));
  const [low, high] = ends(extent(hasZero ? [0, ...heights] : heights));
  if (chart.y.kind === "time") return straight(chart.y, [low, high], from, to);
  const step = nice((high - low) / 5);
  return straight(chart.y, [Math.floor(low / step) * step, Math.ceil(high / step) * step], from, to);
}

/** The scale of the places, from one pixel to another. */
function placeScale(chart: Plane, from: number, to: number): Scale {
  const axis = chart.x;
  if (axis.kind === "category") {
    const names = axis.isReversed ? [...axis.names].reverse() : axis.names;
    const at = new Map(names.map((name, index) => [name, index]));
    const room = (to - from) / Math.max(1, names.length);
    return { kind: "category", low: 0, high: names.length, names, step: Math.abs(room), place: (value) => from + ((at.get(String(value)) ?? NaN) + 0.5) * room };
  }
  if (axis.kind === "log") return straight(axis, logEnds(placesOf(chart)), from, to, 0);
  const wide = chart.series.filter((one) => one.kind === "bar" || one.kind === "box");
  const isBinned = wide.length > 0 && wide.every((one) => one.points.every(({ end }) => end !== undefined));
  const sorted = Float64Array.from(new Set(wide.flatMap((one) => one.points.map(({ x }) => Number(x))))).sort();
  let gap = Infinity;
  for (let at = 1; at < sorted.length; at += 1) gap = Math.min(gap, (sorted[at] as number) - (sorted[at - 1] as number));
  const [low, high] = ends(extent(placesOf(chart)));
  const room = wide.length === 0 || isBinned ? 0 : Number.isFinite(gap) ? gap : (high - low) / 2;
  const around = isBinned ? 0 : room > 0 ? room / 2 : (high - low) * 0.02;
  const [left, right] = [low - around, high + around];
  return straight(axis, [left, right], from, to, (room / (right - left)) * Math.abs(to - from));
}

export function scales(chart: Plane, width: number, height: number): { x: Scale; y: Scale } {
  return chart.isFlat
    ? { x: placeScale(chart, height, 0), y: valueScale(chart, 0, width) }
    : { x: placeScale(chart, 0, width), y: valueScale(chart, height, 0) };
}

export interface Tick {
  at: number;
  label: string;
}

/** Places with their labels, about as many as are wanted. `letters` is how long a label may be. */
export function ticks(scale: Scale, wanted: number, letters = 14): Tick[] {
  switch (scale.kind) {
    case "category": {
      const longest = scale.names.reduce((most, name) => Math.max(most, Math.min(letters, name.length)), 1);
      const every = Math.max(1, Math.ceil((letters > 0 ? longest * 7 + 10 : 16) / Math.max(scale.step, 0.001)));
      return scale.names.filter((_, index) => index % every === 0).map((name) => ({ at: scale.place(name), label: name }));
    }
    case "time": return timeTicks(scale, wanted);
    case "log": return logTicks(scale, wanted);
    default: return numberTicks(scale, wanted);
  }
}

function timeTicks(scale: Scale, wanted: number): Tick[] {
  const all = times(scale.low, scale.high, ((scale.high - scale.low) / wanted) * 0.8).filter((time) => time >= scale.low && time <= scale.high).slice(0, MOST_TICKS);
  const step = all.length > 1 ? (all[1] as number) - (all[0] as number) : scale.high - scale.low;
  const day = 86_400_000;
  const [from, to] = step > 360 * day ? [0, 4] : step > 27 * day ? [0, 7] : step >= day ? [0, 10] : step >= 60_000 ? [5, 16] : step >= 1000 ? [11, 19] : [14, 23];
  return all.flatMap((time) => {
    const date = new Date(time);
    return Number.isNaN(date.getTime()) ? [] : [{ at: scale.place(time), label: date.toISOString().slice(from, to).replace("T", " ") }];
  });
}

function logTicks(scale: Scale, wanted: number): Tick[] {
  const [low, high] = [Math.ceil(Math.log10(scale.low) - 1e-9), Math.floor(Math.log10(scale.high) + 1e-9)];
  if (!(high - low < 400)) return [];
  const every = Math.max(1, Math.ceil((high - low) / wanted));
  const parts = high - low < 2 ? [1, 2, 5] : [1];
  const found: Tick[] = [];
  for (let power = low - 1; power <= high; power += 1) {
    if (parts.length === 1 && (power - low) % every !== 0) continue;
    for (const part of parts) {
      const value = part * 10 ** power;
      if (value >= scale.low * 0.999 && value <= scale.high * 1.001) found.push({ at: scale.place(value), label: numberText(value, 4) });
    }
  }
  return found;
}

function numberTicks(scale: Scale, wanted: number): Tick[] {
  const step = nice((scale.high - scale.low) / wanted);
  const first = Math.ceil(scale.low / step - 1e-9);
  const count = Math.min(MOST_TICKS, Math.floor(scale.high / step + 1e-9) - first + 1);
  if (!Number.isFinite(step) || !(step > 0) || !(count > 0)) return [];
  return Array.from({ length: count }, (_, at) => {
    const value = (first + at) * step;
    return { at: scale.place(value), label: numberText(value, Math.max(1, Math.ceil(Math.log10(Math.abs(value) / step || 1) + 1e-9) + 1)) };
  });
}

/** A number for an axis, with as many digits as tell it from its neighbours. */
export function numberText(value: number, digits: number): string {
  const size = Math.abs(value);
  const most = Math.min(12, Math.max(1, digits));
  if (size >= 1e15 || (size > 0 && size < 1e-5)) return value.toExponential(Math.min(3, most - 1)).replace("e+", "e");
  return value.toLocaleString("en", { maximumSignificantDigits: most, ...(size >= 100_000 ? { notation: "compact" } : {}) });
}
