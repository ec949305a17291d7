//! Where the values of a chart stand: scales, ticks and stacked bars. Pure.

import type { Chart, Position, Series } from "./chart";

export interface Scale {
  kind: "number" | "time" | "category";
  low: number;
  high: number;
  /** Names of the places, of a scale of categories. */
  names: string[];
  /** Pixels from one place to the next. */
  step: number;
  place(value: Position): number;
}

/** A number that is easy to read, of about this size. */
function nice(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size));
  const part = size / power;
  return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

function bounds(values: Iterable<number>, hasZero: boolean): [number, number] {
  let [low, high] = hasZero ? [0, 0] : [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low === high) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2];
  return [low, high];
}

/** A bar of a series: where it begins and ends. */
export function stacked(chart: Chart, one: Series): { x: Position; from: number; to: number }[] {
  const base = new Map<Position, [number, number]>();
  if (chart.isStacked) {
    for (const other of chart.series) {
      if (other === one) break;
      if (other.kind !== "bar") continue;
      for (const { x, y } of other.points) {
        const [up, down] = base.get(x) ?? [0, 0];
        base.set(x, y >= 0 ? [up + y, down] : [up, down + y]);
      }
    }
  }
  return one.points.map(({ x, y }) => {
    const [up, down] = base.get(x) ?? [0, 0];
    const from = y >= 0 ? up : down;
    return { x, from, to: from + y };
  });
}

export function scales(chart: Chart, width: number, height: number): { x: Scale; y: Scale } {
  const hasBars = chart.series.some((one) => one.kind === "bar");
  const heights = chart.series.flatMap((one) => (one.kind === "bar" ? stacked(chart, one).map(({ to }) => to) : one.points.map(({ y }) => y)));
  const [low, high] = bounds(heights, hasBars);
  const step = nice((high - low) / 5);
  const [bottom, top] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
  const y: Scale = { kind: "number", low: bottom, high: top, names: [], step: 0, place: (value) => height - ((Number(value) - bottom) / (top - bottom)) * height };
  const places = chart.series.flatMap((one) => one.points.map((point) => point.x));
  if (chart.x.kind === "category") {
    const names = [...new Set(places.map(String))];
    const at = new Map(names.map((name, index) => [name, index]));
    const room = width / names.length;
    return { x: { kind: "category", low: 0, high: names.length, names, step: room, place: (value) => ((at.get(String(value)) ?? 0) + 0.5) * room }, y };
  }
  const sorted = [...new Set(places.map(Number))].sort((one, other) => one - other);
  const gap = sorted.slice(1).reduce((least, value, index) => Math.min(least, value - (sorted[index] as number)), Infinity);
  const [from, to] = bounds(sorted, false);
  const around = hasBars && Number.isFinite(gap) ? gap / 2 : (to - from) * 0.02;
  const [left, right] = [from - around, to + around];
  const place = (value: Position) => ((Number(value) - left) / (right - left)) * width;
  const room = hasBars ? (Number.isFinite(gap) ? (gap / (right - left)) * width : width / 2) : 0;
  return { x: { kind: chart.x.kind, low: left, high: right, names: [], step: room, place }, y };
}

/** Places with their labels, about as many as are wanted. */
export function ticks(scale: Scale, wanted: number): { at: number; label: string }[] {
  if (scale.kind === "category") {
    const every = Math.max(1, Math.ceil(scale.names.length / (wanted * 1.5)));
    return scale.names.filter((_, index) => index % every === 0).map((name) => ({ at: scale.place(name), label: name }));
  }
  const found: { at: number; label: string }[] = [];
  if (scale.kind === "time") {
    const step = (scale.high - scale.low) / wanted;
    for (let index = 0.5; index < wanted; index += 1) {
      const value = scale.low + index * step;
      const date = new Date(value).toISOString();
      found.push({ at: scale.place(value), label: step > 20 * 86_400_000 ? date.slice(0, 7) : step > 43_200_000 ? date.slice(0, 10) : date.slice(5, 16).replace("T", " ") });
    }
    return found;
  }
  const step = nice((scale.high - scale.low) / wanted);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  for (let value = Math.ceil(scale.low / step - 1e-9) * step; value <= scale.high + step * 1e-9; value += step) {
    const shown = Math.abs(value) < step * 1e-6 ? 0 : value;
    const label = Math.abs(shown) >= 1e7 || digits > 6 ? shown.toExponential(1) : shown.toLocaleString("en", { maximumFractionDigits: Math.min(digits, 6) });
    found.push({ at: scale.place(value), label });
  }
  return found;
}
