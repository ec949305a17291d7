//! The values of a chart as a table, and the chart in a sentence. Pure.

import { type Axis, type Chart, type Plane, timeText } from "./figure";
import { ofRows, type Table } from "./table";

const number = (value: number | null | undefined): string => (value === null || value === undefined ? "" : String(value));
/** The name of a column that no other has. */
const other = (name: string, names: string[]): string => (names.includes(name) || name === "" ? "value" : name);

export function dataOf(chart: Chart): Table | null {
  if (chart.shape === "pie") {
    const total = totalOf(chart.slices);
    return ofRows(["name", "value", "share"], chart.slices.map(({ name, value }) => [name, String(value), share(value, total)]));
  }
  if (chart.shape === "grid") {
    const names = [chart.x.title || "x", other(chart.y.title || "y", [chart.x.title || "x"])];
    const rows = chart.cells.flatMap((row, at) => row.map((value, index) => [chart.x.names[index] ?? "", chart.y.names[at] ?? "", number(value)]));
    return ofRows([...names, other(chart.value, names)], rows);
  }
  return ofPlane(chart);
}

function ofPlane(chart: Plane): Table | null {
  const place = chart.x.title === "" ? "x" : chart.x.title;
  const value = chart.y.title === "" || chart.y.title === place ? "y" : chart.y.title;
  const all = chart.series.flatMap((one) => one.points.map((point) => ({ one, point })));
  const shown = (x: number | string) => (chart.x.kind === "time" && typeof x === "number" ? timeText(x) : String(x));
  const height = (y: number | undefined) => (chart.y.kind === "time" && y !== undefined ? timeText(y) : number(y));
  const columns: [string, boolean, (entry: (typeof all)[number]) => string][] = [
    ["series", chart.series.length > 1, ({ one }) => one.name],
    [place, true, ({ one, point }) => (one.kind === "rule" ? "" : shown(point.x))],
    [`${place} to`, all.some(({ point }) => point.end !== undefined), ({ point }) => (point.end === undefined ? "" : shown(point.end))],
    [`${value} from`, all.some(({ point }) => point.from !== undefined && point.from !== 0), ({ point }) => height(point.from)],
    [value, all.some(({ point }) => point.box === undefined), ({ one, point }) => (one.kind === "post" || point.box !== undefined ? "" : height(point.y))],
    ["error below", all.some(({ point }) => point.error !== undefined), ({ point }) => number(point.error?.[0])],
    ["error above", all.some(({ point }) => point.error !== undefined), ({ point }) => number(point.error?.[1])],
    ...(["low", "first", "middle", "third", "high"] as const).map((name): [string, boolean, (entry: (typeof all)[number]) => string] => [
      BOX[name], all.some(({ point }) => point.box !== undefined), ({ point }) => number(point.box?.[name])]),
    ["outliers", all.some(({ point }) => (point.box?.outliers.length ?? 0) > 0), ({ point }) => (point.box?.outliers ?? []).slice(0, 20).join(", ")],
    ["size of the point", all.some(({ point }) => point.size !== undefined), ({ point }) => number(point.size)],
    [chart.heat === "" ? "colour" : `colour: ${chart.heat}`, all.some(({ point }) => point.heat !== undefined), ({ point }) => number(point.heat)],
  ];
  const wanted = columns.filter(([, isWanted]) => isWanted);
  return ofRows(wanted.map(([name]) => name), all.map((entry) => wanted.map(([, , read]) => read(entry))));
}

const BOX = { low: "lower whisker", first: "first quartile", middle: "median", third: "third quartile", high: "upper whisker" };

export const totalOf = (slices: { value: number }[]): number => slices.reduce((sum, { value }) => sum + value, 0);

/** A share as a percentage that is exact enough to be told from others. */
export function share(value: number, total: number): string {
  const part = total > 0 ? (value / total) * 100 : 0;
  return `${part > 0 && part < 0.1 ? "<0.1" : part.toFixed(part >= 99.95 || part === 0 ? 0 : 1)} %`;
}

/** Slices that are drawn; the smallest ones are one. */
export function slicesOf(all: { name: string; value: number }[], most: number): { name: string; value: number }[] {
  if (all.length <= most) return all;
  const least = [...all].sort((one, other) => other.value - one.value).slice(most - 1);
  const rest = new Set(least);
  return [...all.filter((one) => !rest.has(one)), { name: `${least.length} others`, value: totalOf(least) }];
}

const MARKS: { [kind in Plane["series"][number]["kind"]]: string } = {
  line: "Line chart", points: "Scatter chart", both: "Line chart", bar: "Bar chart", area: "Area chart", box: "Box plot", tick: "Strip chart", span: "Range chart", rule: "Chart", post: "Chart",
};

/** The kind of a chart and all that it shows, in words for somebody who does not see it. */
export function spoken(chart: Chart): string {
  const title = chart.title === "" ? "" : `: ${chart.title.slice(0, 120)}`;
  if (chart.shape === "pie") {
    const total = totalOf(chart.slices);
    const parts = chart.slices.slice(0, 5).map(({ name, value }) => `${name.slice(0, 40)} ${share(value, total)}`);
    return `Pie chart${title}. ${parts.join(", ")}${chart.slices.length > 5 ? ` and ${chart.slices.length - 5} more` : ""}.`;
  }
  if (chart.shape === "grid") return `Heatmap${title}. ${chart.value.slice(0, 60) || "Values"} of ${chart.x.names.length} columns and ${chart.y.names.length} rows.`;
  const isCounted = chart.series.some((one) => one.points.some((point) => point.end !== undefined));
  const [first] = chart.series;
  const kind = isCounted ? "Histogram" : first === undefined ? "Chart" : MARKS[first.kind];
  const names = chart.series.map((one) => one.name.slice(0, 40)).filter((name) => name !== "");
  const axes = [axisWords(chart.y, chart, "y"), axisWords(chart.x, chart, "x")].filter((one) => one !== "");
  return `${kind}${title}. ${axes.join("; ")}.${names.length > 1 ? ` ${names.length} series: ${names.slice(0, 5).join(", ")}${names.length > 5 ? " and more" : ""}.` : ""}`;
}

function axisWords(axis: Axis, chart: Plane, name: "x" | "y"): string {
  const title = axis.title.slice(0, 60) || (name === "x" ? "Places" : "Values");
  if (axis.kind === "category") return axis.names.length === 1 && axis.names[0] === "" ? "" : `${title}: ${axis.names.length}, from ${(axis.names[0] ?? "").slice(0, 40)} to ${(axis.names[axis.names.length - 1] ?? "").slice(0, 40)}`;
  let [low, high] = [Infinity, -Infinity];
  for (const one of chart.series) {
    if (one.kind === (name === "x" ? "rule" : "post")) continue;
    for (const point of one.points) {
      const ends = name === "x" ? [Number(point.x), point.end ?? Number(point.x)] : [Math.min(point.box?.low ?? point.y, point.from || point.y), point.box?.high ?? point.y];
      low = Math.min(low, ...ends);
      high = Math.max(high, ...ends);
    }
  }
  if (low > high) return "";
  const shown = (value: number) => (axis.kind === "time" ? timeText(value) : value.toLocaleString("en", { maximumSignificantDigits: 6 }));
  return `${title} from ${shown(low)} to ${shown(high)}${axis.kind === "log" ? ", logarithmic" : ""}`;
}
