//! Channels of a chart of Vega-Lite: which field, and where its values stand. Pure.

import { binOf, type Edges, extent, vegaBins } from "./bins";
import { type Fields, fields, isNumber, isPlace, list, type Order, type Position, text, timeOf, words, type Wish } from "./figure";

export interface Channel {
  field: string | null;
  type: string;
  aggregate: string | null;
  /** Bins that are to be made, or that are in the data already. */
  bin: Fields | "binned" | null;
  timeUnit: string | null;
  scale: Fields;
  title: string;
  spec: Fields;
}

/** A channel that stands for a field or a count; `null` if there is none. */
export function channel(value: unknown): Channel | null {
  const spec = fields(value);
  const field = typeof spec["field"] === "string" ? spec["field"].replace(/\\([.[\]])/g, "$1") : null;
  const aggregate = typeof spec["aggregate"] === "string" ? spec["aggregate"] : null;
  if (field === null && aggregate === null) return null;
  const bin = spec["bin"] === "binned" || fields(spec["bin"])["binned"] === true ? "binned" as const : spec["bin"] === true ? {} : typeof spec["bin"] === "object" && spec["bin"] !== null ? fields(spec["bin"]) : null;
  const timeUnit = text(spec["timeUnit"]) || text(fields(spec["timeUnit"])["unit"]) || null;
  const type = text(spec["type"]) || (timeUnit !== null ? "temporal" : bin !== null || aggregate !== null ? "quantitative" : "nominal");
  return { field, type, aggregate, bin, timeUnit, scale: fields(spec["scale"]), title: titleOf(spec, field, aggregate, bin, timeUnit), spec };
}

function titleOf(spec: Fields, field: string | null, aggregate: string | null, bin: Channel["bin"], timeUnit: string | null): string {
  const axis = fields(spec["axis"] ?? spec["legend"]);
  if (spec["title"] === null || axis["title"] === null) return "";
  const given = words(spec["title"]) || words(axis["title"]);
  if (given !== "") return given;
  if (aggregate === "count") return "Count of Records";
  if (aggregate !== null) return `${aggregate.slice(0, 1).toUpperCase()}${aggregate.slice(1, 20)} of ${field ?? ""}`;
  return `${field ?? ""}${bin !== null && bin !== "binned" ? " (binned)" : timeUnit !== null ? ` (${timeUnit.slice(0, 30)})` : ""}`;
}

/** Whether values of a channel are lengths, not places. */
export const isValue = (one: Channel | null): boolean => one !== null && one.type === "quantitative" && one.bin === null;
export const isDiscrete = (one: Channel): boolean => one.type === "nominal" || one.type === "ordinal";

/** A value of a record, also one of a field inside another. */
export function valueOf(record: Fields, field: string): unknown {
  if (Object.hasOwn(record, field)) return record[field];
  return field.includes(".") ? field.split(".", 8).reduce<unknown>((one, name) => (Object.hasOwn(fields(one), name) ? fields(one)[name] : undefined), record) : undefined;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const DAYS = "Sun Mon Tue Wed Thu Fri Sat".split(" ");
/** Times as the names of a part of them. */
const PARTS: ReadonlyMap<string, (date: Date) => string> = new Map([
  ["quarter", (date) => `Q${Math.floor(date.getUTCMonth() / 3) + 1}`], ["month", (date) => MONTHS[date.getUTCMonth()] as string],
  ["date", (date) => String(date.getUTCDate())], ["day", (date) => DAYS[date.getUTCDay()] as string], ["hours", (date) => String(date.getUTCHours())],
] as [string, (date: Date) => string][]);
const PART_ORDER = [...MONTHS, ...DAYS];
/** Times cut off after a part: how many parts of a date are left. */
const UNITS: ReadonlyMap<string, number> = new Map([["year", 1], ["yearmonth", 2], ["yearmonthdate", 3], ["yearmonthdatehours", 4], ["yearmonthdatehoursminutes", 5]]);

function inUnit(time: number, unit: string): Position | null {
  const date = new Date(time);
  const part = PARTS.get(unit);
  if (part !== undefined) return part(date);
  const left = UNITS.get(unit);
  if (left === undefined) return null;
  const all = [date.getUTCMonth(), date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes()];
  const [month, day, hour, minute] = all.map((one, at) => (at + 2 <= left ? one : at === 1 ? 1 : 0)) as [number, number, number, number];
  return new Date(0).setUTCFullYear(date.getUTCFullYear(), month, day) + (hour * 60 + minute) * 60_000;
}

/** The places of a channel on its axis. */
export interface Places {
  wish: Wish;
  /** The place of a record; `null` if it has none. */
  place(record: Fields): Position | null;
  /** The bins, if the channel has some. */
  edges: Edges | null;
}

/** Where records stand on an axis; `null` if that is not known here. */
export function placesOf(one: Channel | null, records: Fields[]): Places | null {
  const wish: Wish = { title: one?.title ?? "", type: "", isReversed: one?.scale["reverse"] === true, order: "up" };
  if (one === null) return { wish: { ...wish, type: "category" }, place: () => "", edges: null };
  const { field } = one;
  if (field === null || one.aggregate !== null || !["", "linear", "log", "time", "utc", "band", "point", "ordinal"].includes(text(one.scale["type"]))) return null;
  const time = (record: Fields) => timeOf(valueOf(record, field));
  if (one.timeUnit !== null) {
    const unit = one.timeUnit.replace(/^(?:utc|binned)+/, "");
    if (!PARTS.has(unit) && !UNITS.has(unit)) return null;
    const isPart = PARTS.has(unit) || isDiscrete(one);
    const order: Order = unit === "month" || unit === "day" ? PART_ORDER : "up";
    const place = (record: Fields) => {
      const at = time(record);
      const found = at === null ? null : inUnit(at, unit);
      return found !== null && isPart && typeof found === "number" ? new Date(found).toISOString().slice(0, unit === "year" ? 4 : unit === "yearmonth" ? 7 : 10) : found;
    };
    return { wish: { ...wish, type: isPart ? "category" : "date", order }, place, edges: null };
  }
  if (one.bin !== null) {
    const read = (record: Fields): number | null => (one.type === "temporal" ? time(record) : numberOf(valueOf(record, field)));
    if (one.type === "temporal" && one.bin !== "binned") return null;
    const bins = one.bin === "binned" ? {} : one.bin;
    const [low, high] = list(bins["extent"]).every(isNumber) && list(bins["extent"]).length === 2 ? list(bins["extent"]) as [number, number] : extent(records.map(read).filter((value) => value !== null));
    const edges = one.bin === "binned" ? [] : vegaBins(low, high, isNumber(bins["maxbins"]) ? Math.max(1, bins["maxbins"]) : 10, isNumber(bins["step"]) ? bins["step"] : 0);
    if (edges === null) return null;
    const place = (record: Fields) => {
      const value = read(record);
      return value === null || edges.length === 0 ? value : edges[binOf(edges, value)] ?? null;
    };
    return { wish: { ...wish, type: one.scale["type"] === "log" ? "log" : "" }, place, edges };
  }
  if (one.type === "temporal") return records.some((record) => isPlace(valueOf(record, field)) && time(record) === null) ? null : { wish: { ...wish, type: "date" }, place: time, edges: null };
  if (one.type === "quantitative") return { wish: { ...wish, type: one.scale["type"] === "log" ? "log" : "" }, place: (record) => numberOf(valueOf(record, field)), edges: null };
  const place = (record: Fields) => {
    const value = valueOf(record, field);
    return isPlace(value) || typeof value === "boolean" ? String(value) : null;
  };
  return { wish: { ...wish, type: "category" }, place, edges: null };
}

export const numberOf = (value: unknown): number | null => (isNumber(value) ? value : null);

/** In which order the categories of a channel are, if its values are on the channel named `values`. */
export function orderOf(one: Channel | null, values: string, valueField: string | null, other: Order): Order {
  const { sort } = one?.spec ?? {};
  if (Array.isArray(sort)) return sort.map(String);
  if (sort === null) return "data";
  if (sort === "descending") return "down";
  if (sort === values) return "totalUp";
  if (sort === `-${values}`) return "totalDown";
  const { field, encoding, order } = fields(sort);
  if (encoding === values || (field !== undefined && field === valueField)) return order === "descending" ? "totalDown" : "totalUp";
  return other;
}
