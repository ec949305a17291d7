//! Values that are counted: bins of histograms, quartiles of boxes, joined values. Pure.

import { type Box, MOST_BINS } from "./figure";

/** Edges of bins: each begins where the one before ends. */
export type Edges = number[];

const DAY = 86_400_000;
/** Steps of times in milliseconds, up to the longest that is always as long. */
const TIMES = [1, 10, 100, 1000, 5000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 10_800_000, 21_600_000, 43_200_000, DAY, 2 * DAY, 7 * DAY];
/** Steps of months. */
const MONTHS = [1, 3, 6, ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000].map((years) => years * 12)];

export function extent(values: Iterable<number>): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

function evenly(start: number, step: number, high: number): Edges | null {
  const count = Math.max(1, Math.ceil((high - start) / step + 1e-9));
  if (!(step > 0) || !(count <= MOST_BINS) || start + step === start) return null;
  return Array.from({ length: count + 1 }, (_, at) => start + at * step);
}

/** Times from the last round one before `low` to the first after `high`, about `size` apart. */
export function times(low: number, high: number, size: number): Edges {
  const found: Edges = [];
  const step = TIMES.find((one) => one >= size);
  if (step !== undefined) {
    // The first day of 1970 was a Thursday; weeks begin on Mondays.
    const shift = step === 7 * DAY ? 4 * DAY : 0;
    for (let time = Math.floor((low - shift) / step) * step + shift; found.length <= MOST_BINS; time += step) {
      found.push(time);
      if (time > high) break;
    }
    return found;
  }
  const months = MONTHS.find((one) => one * 30.4 * DAY >= size) ?? 1_200_000;
  const first = new Date(low);
  const from = Math.floor((first.getUTCFullYear() * 12 + first.getUTCMonth()) / months) * months;
  for (let month = from; found.length <= MOST_BINS; month += months) {
    const time = new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1);
    if (Number.isNaN(time)) break;
    found.push(time);
    if (time > high) break;
  }
  return found;
}

function deviation(values: number[]): number {
  const mean = values.reduce((one, other) => one + other, 0) / values.length;
  return Math.sqrt(values.reduce((one, other) => one + (other - mean) ** 2, 0) / values.length);
}

/** The size of bins that Plotly takes: a round one, from how far the values scatter. */
function sizeOf(values: number[], most: number, isPair: boolean): number {
  const [low, high] = extent(values);
  const sorted = Float64Array.from(new Set(values)).sort();
  let least = Infinity;
  for (let at = 1; at < sorted.length; at += 1) least = Math.min(least, (sorted[at] as number) - (sorted[at - 1] as number));
  if (!Number.isFinite(least)) return 0.9;
  const power = 10 ** Math.floor(Math.log10(least));
  const smallest = power * ([9.9, 4.9, 1.9].find((one) => one <= least / power) ?? 0.9);
  return most > 0 ? (high - low) / most : Math.max(smallest, (2 * deviation(values)) / values.length ** (isPair ? 0.25 : 0.4));
}

/** Bins as Plotly makes them, of values or of pairs. `most` is how many there may be, or 0. */
export function plotlyBins(values: number[], most: number, isTime: boolean, isPair = false): Edges | null {
  const [low, high] = extent(values);
  if (values.length === 0) return null;
  const rough = Math.max(sizeOf(values, most, isPair), (high - low) / (MOST_BINS - 2));
  if (isTime) return times(low, high, rough);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([2, 5, 10].find((one) => one >= rough / power - 1e-9) ?? 10);
  let start = Math.ceil(low / step - 1e-9) * step - step;
  // Values that stand at the edges, as whole numbers do, are put into the middle of bins.
  const isNear = (value: number) => (((1 + ((value - start) * 100) / step) % 100) + 100) % 100 < 2;
  if (values.every(Number.isInteger)) {
    start = step < 1 ? low - step / 2 : start - 0.5;
    if (start + step < low) start += step;
  } else if (values.filter((value) => isNear(value + step / 2)).length < values.length / 10) {
    const isShifted = isNear(low) || isNear(high) || values.filter(isNear).length > values.length * 0.3;
    if (isShifted) start += start + step / 2 < low ? step / 2 : -step / 2;
  }
  if (start + step <= low) start += step;
  return evenly(start, step, high);
}

/** Bins of one size from a given start. */
export function givenBins(start: number, end: number, size: number): Edges | null {
  return size > 0 && end > start ? evenly(start, size, end - size * 1e-6) : null;
}

/** Bins as Vega-Lite makes them. */
export function vegaBins(low: number, high: number, most: number, wanted: number): Edges | null {
  const span = high - low || Math.abs(low) || 1;
  let step = wanted;
  if (!(step > 0)) {
    step = 10 ** (Math.round(Math.log10(span)) - Math.ceil(Math.log10(most)));
    while (Math.ceil(span / step) > most) step *= 10;
    for (const part of [5, 2]) if (span / (step / part) <= most) step /= part;
  }
  const start = Math.floor(low / step + 1e-9) * step;
  return evenly(start, step, Math.max(high - step * 1e-6, start));
}

/** The name of a bin, without the digits that are only rounding. */
export function binName(edges: Edges, bin: number): string {
  const [low, high] = [edges[bin] ?? 0, edges[bin + 1] ?? edges[bin] ?? 0];
  const digits = Math.max(0, Math.min(20, 2 - Math.floor(Math.log10(high - low || 1))));
  const shown = (value: number) => String(Number(Math.abs(value) < 1e15 ? value.toFixed(digits) : value.toPrecision(6)) || 0);
  return `${shown(low)}${low < 0 ? " to " : "–"}${shown(high)}`;
}

/** The bin that a value is in, or -1. */
export function binOf(edges: Edges, value: number): number {
  let [low, high] = [0, edges.length - 1];
  if (!(value >= (edges[0] as number)) || value > (edges[high] as number)) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((edges[middle] as number) <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** The value at a share of sorted values; between two, a part of each. */
export function quantile(sorted: Float64Array, share: number, isPlotly: boolean): number {
  const at = Math.max(0, Math.min(sorted.length - 1, isPlotly ? share * sorted.length - 0.5 : share * (sorted.length - 1)));
  const [low, high] = [sorted[Math.floor(at)] as number, sorted[Math.ceil(at)] as number];
  return low + (high - low) * (at - Math.floor(at));
}

/** A box: quartiles, the values that are not far from them, and the others. */
export function boxOf(values: number[], isPlotly: boolean): Box | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const [first, middle, third] = [0.25, 0.5, 0.75].map((share) => quantile(sorted, share, isPlotly)) as [number, number, number];
  const far = 1.5 * (third - first);
  const isNear = (value: number) => value >= first - far && value <= third + far;
  const near = sorted.filter(isNear);
  const [low, high] = [near[0] ?? first, near[near.length - 1] ?? third];
  return { low: Math.min(low, first), first, middle, third, high: Math.max(high, third), outliers: [...sorted.filter((value) => !isNear(value))] };
}

const sum = (all: number[]) => all.reduce((one, other) => one + other, 0);
const mean = (all: number[]) => sum(all) / all.length;
const variance = (all: number[]) => {
  const middle = mean(all);
  return all.length < 2 ? 0 : all.reduce((one, other) => one + (other - middle) ** 2, 0) / (all.length - 1);
};
const share = (part: number) => (all: number[]) => quantile(Float64Array.from(all).sort(), part, false);

/** How values of one place are joined. */
export const JOINS: ReadonlyMap<string, (all: number[]) => number> = new Map([
  ["count", (all) => all.length], ["valid", (all) => all.length], ["distinct", (all) => new Set(all).size],
  ["sum", sum], ["mean", mean], ["average", mean], ["avg", mean], ["median", share(0.5)], ["q1", share(0.25)], ["q3", share(0.75)],
  ["min", (all) => extent(all)[0]], ["max", (all) => extent(all)[1]],
  ["variance", variance], ["stdev", (all) => Math.sqrt(variance(all))],
] as [string, (all: number[]) => number][]);
