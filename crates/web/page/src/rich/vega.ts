//! Charts of Vega-Lite. Pure.
//!
//! A chart is read whole or not at all: a mark, a channel or a transformation that is not known here
//! gives nothing, and the values are shown instead. Nothing in it is computed from an expression.

import { binName, boxOf, extent, JOINS } from "./bins";
import { type Channel, channel, isDiscrete, isValue, numberOf, orderOf, type Places, placesOf, valueOf } from "./channel";
import { type Chart, type Fields, fields, type Grid, inOrder, isNumber, isPlace, list, type Mark, MOST, MOST_CELLS, MOST_SERIES, MOST_SLICES, type Pie, type Plane, plane, type Point, type Position, type Series, text, timeOf, timeText, type Together, type Wish, words } from "./figure";

const MARKS: ReadonlyMap<string, Mark> = new Map([["line", "line"], ["bar", "bar"], ["area", "area"], ["point", "points"], ["circle", "points"], ["square", "points"], ["tick", "tick"], ["rule", "span"], ["boxplot", "box"]]);
/** Channels that make several series of one. */
const SPLITS = ["color", "fill", "stroke", "detail", "shape", "strokeDash", "xOffset", "yOffset"];
/** Channels that are drawn, and those that change nothing of the values. */
const KNOWN = ["x", "y", "x2", "y2", "theta", "size", ...SPLITS, "order", "tooltip", "opacity", "fillOpacity", "strokeOpacity", "strokeWidth", "href", "url", "key", "description"];
const COMPOSED = ["hconcat", "vconcat", "concat", "facet", "repeat", "spec"];

/** The records of a chart: beside it, or by the name of its data. */
export function vegaValues(spec: Fields, all: Fields = spec): unknown[] | null {
  const data = fields(spec["data"]);
  const name = data["name"];
  const sets = fields(all["datasets"]);
  const values = data["values"] ?? (typeof name === "string" && Object.hasOwn(sets, name) ? sets[name] : undefined);
  return Array.isArray(values) ? values : null;
}

export function ofVegaLite(spec: Fields): Chart | null {
  if (COMPOSED.some((name) => spec[name] !== undefined)) return null;
  const layers = Array.isArray(spec["layer"]) ? spec["layer"].map(fields) : null;
  const units = layers ?? [spec];
  if (units.length === 0 || units.length > MOST_SERIES) return null;
  const found: Chart[] = [];
  for (const unit of units) {
    if (unit["transform"] !== undefined || spec["transform"] !== undefined || unit["layer"] !== undefined && unit !== spec) return null;
    const encoding = layers === null ? fields(unit["encoding"]) : { ...fields(spec["encoding"]), ...fields(unit["encoding"]) };
    const values = vegaValues(unit, spec) ?? vegaValues(spec);
    if (values === null || values.length > MOST) return null;
    if (layers !== null && repeatsValues(unit, encoding)) continue;
    const chart = unitOf({ mark: unit["mark"], title: words(spec["title"]), encoding }, values.map(fields));
    if (chart === null) return null;
    found.push(chart);
  }
  const [first, ...others] = found;
  return first === undefined ? null : others.reduce<Chart | null>(layered, first);
}

/** Whether a layer only writes the values beside the marks of another one. */
function repeatsValues(unit: Fields, encoding: Fields): boolean {
  const mark = text(unit["mark"]) || text(fields(unit["mark"])["type"]);
  const one = channel(encoding["text"]);
  return mark === "text" && one !== null && ["x", "y", "theta", "color"].some((name) => {
    const other = channel(encoding[name]);
    return other !== null && other.field === one.field && other.aggregate === one.aggregate;
  });
}

/** Two charts on the same axes. */
function layered(below: Chart | null, above: Chart): Chart | null {
  if (below?.shape !== "plane" || above.shape !== "plane") return null;
  const isFree = (chart: Plane) => chart.series.every((one) => one.kind === "rule" || one.kind === "post");
  if (isFree(below) && !isFree(above)) return layered(above, below);
  const turned = !isFree(above) || above.isFlat === below.isFlat ? above : { ...above, series: above.series.map(turnedOver) };
  if (!isFree(above) && (above.isFlat !== below.isFlat || above.x.kind !== below.x.kind || above.y.kind !== below.y.kind)) return null;
  if (below.series.length + above.series.length > MOST_SERIES) return null;
  const names = [...new Set([...below.x.names, ...(isFree(above) ? [] : above.x.names)])];
  const together = below.series.some((one) => one.kind === "bar" || one.kind === "area") ? below.together : above.together;
  return { ...below, together, x: { ...below.x, names }, heat: below.heat || above.heat, series: [...below.series, ...turned.series] };
}

/** A line through a chart that stands, for one that lies. */
function turnedOver(one: Series): Series {
  return one.kind === "rule"
    ? { ...one, kind: "post", points: one.points.map(({ y }) => ({ x: y, y: 0 })) }
    : { ...one, kind: "rule", points: one.points.flatMap(({ x }) => (typeof x === "number" ? [{ x: "", y: x }] : [])) };
}

interface Unit {
  mark: unknown;
  title: string;
  encoding: Fields;
}

function unitOf(unit: Unit, records: Fields[]): Chart | null {
  const definition = fields(unit.mark);
  const name = text(unit.mark) || text(definition["type"]);
  const { encoding } = unit;
  for (const [key, value] of Object.entries(encoding)) {
    if (!KNOWN.includes(key) && !(key === "text" && channel(value) === null)) return null;
    if (fields(value)["impute"] !== undefined) return null;
  }
  if (name === "arc") return ofArc(unit, definition, records);
  if (name === "rect") return ofRect(unit, records);
  const kind = MARKS.get(name);
  return kind === undefined ? null : ofMarks(unit, kind === "line" && definition["point"] !== undefined && definition["point"] !== false ? "both" : kind, records);
}

type Join = (all: number[]) => number;
/** How a channel joins values: `null` if it does not, `undefined` if the way is not known. */
const joinOf = (one: Channel | null): Join | null | undefined => (one?.aggregate == null ? null : JOINS.get(one.aggregate));

/** The number of a record that a channel shows or joins. */
function amount(one: Channel, record: Fields): number | null {
  if (one.aggregate === "count" || one.field === null) return 1;
  const value = valueOf(record, one.field);
  if (one.type === "temporal") return timeOf(value);
  if (one.aggregate !== "distinct" && one.aggregate !== "valid") return numberOf(value);
  return value === null || value === undefined ? null : numbered(one, value);
}

/** Values of any kind as numbers, the same ones as the same number. */
const known = new WeakMap<Channel, Map<unknown, number>>();

function numbered(one: Channel, value: unknown): number {
  const numbers = known.get(one) ?? new Map<unknown, number>();
  known.set(one, numbers);
  const found = numbers.get(value) ?? numbers.size;
  numbers.set(value, found);
  return found;
}

function ofArc({ encoding, title }: Unit, definition: Fields, records: Fields[]): Pie | null {
  const [theta, color] = [channel(encoding["theta"]), channel(encoding["color"] ?? encoding["fill"])];
  const join = joinOf(theta);
  if (theta === null || join === undefined || color?.field == null || color.aggregate !== null || color.bin !== null || encoding["x"] !== undefined || encoding["y"] !== undefined) return null;
  const places = placesOf({ ...color, type: color.type === "quantitative" ? "ordinal" : color.type, scale: {} }, records);
  if (places === null) return null;
  const groups = new Map<string, number[]>();
  for (const record of records) {
    const [name, value] = [places.place(record), amount(theta, record)];
    if (name !== null && value !== null) add(groups, shown(name, places.wish), value);
  }
  const slices = [...groups].map(([name, all]) => ({ name, value: (join ?? JOINS.get("sum") as Join)(all) })).filter(({ value }) => value > 0 && isNumber(value));
  if (color.spec["sort"] !== null) slices.sort((one, other) => inOrder(one.name, other.name));
  return slices.length === 0 || slices.length > MOST_SLICES ? null : { shape: "pie", title, hasHole: Number(definition["innerRadius"]) > 0, slices };
}

/** A place as a name. */
const shown = (place: Position, wish: Wish): string => (wish.type === "date" && typeof place === "number" ? timeText(place) : String(place));

function add<Key>(groups: Map<Key, number[]>, key: Key, value: number): void {
  const before = groups.get(key);
  if (before === undefined) groups.set(key, [value]);
  else before.push(value);
}

function ofRect({ encoding, title }: Unit, records: Fields[]): Grid | null {
  const [x, y, color] = [channel(encoding["x"]), channel(encoding["y"]), channel(encoding["color"] ?? encoding["fill"])];
  const join = joinOf(color);
  if (x === null || y === null || color === null || !isValue(color) || join === undefined || isValue(x) || isValue(y) || encoding["x2"] !== undefined || encoding["y2"] !== undefined) return null;
  const [across, up] = [placesOf(x, records), placesOf(y, records)];
  if (across === null || up === null) return null;
  const [columns, rows] = [cellNames(x, across, records), cellNames(y, up, records)];
  if (columns.size * rows.size > MOST_CELLS || columns.size * rows.size === 0) return null;
  const groups: number[][][] = Array.from({ length: rows.size }, () => Array.from({ length: columns.size }, () => []));
  for (const record of records) {
    const [column, row, value] = [columns.get(across.place(record) ?? ""), rows.get(up.place(record) ?? ""), amount(color, record)];
    if (column !== undefined && row !== undefined && value !== null) groups[row]?.[column]?.push(value);
  }
  const cells = groups.map((row) => row.map((all) => (all.length === 0 ? null : numberOf((join ?? ((some: number[]) => some[some.length - 1] as number))(all)))));
  if (!cells.some((row) => row.some((value) => value !== null))) return null;
  const named = (places: Places, all: Map<Position, number>) => [...all.keys()].map((place) => (places.edges === null || typeof place !== "number" ? shown(place, places.wish) : binName(places.edges, places.edges.indexOf(place))));
  const isUp = !isDiscrete(y);
  const names = named(up, rows);
  return {
    shape: "grid", title, value: color.title, x: { title: x.title, names: named(across, columns) },
    y: { title: y.title, names: isUp ? names.reverse() : names }, cells: isUp ? cells.reverse() : cells,
  };
}

/** The places of cells in their order. */
function cellNames(one: Channel, places: Places, records: Fields[]): Map<Position, number> {
  const found = new Set<Position>();
  for (const record of records) {
    const place = places.place(record);
    if (place !== null) found.add(place);
  }
  if (places.edges !== null && places.edges.length > 0) {
    // Bins without a record are cells too.
    const [low, high] = extent([...found].filter(isNumber));
    return new Map(places.edges.filter((edge) => edge >= low && edge <= high).map((edge, at) => [edge, at]));
  }
  const order = orderOf(one, "color", null, places.wish.order);
  const first = new Set<Position>(Array.isArray(order) ? order.filter((name) => found.has(name)) : []);
  const rest = [...found].filter((place) => !first.has(place));
  if (order !== "data") rest.sort((left, right) => (order === "down" ? inOrder(right, left) : inOrder(left, right)));
  return new Map([...first, ...rest].map((place, at) => [place, at]));
}

/** Records by the name of their series. */
function bySeries(records: Fields[], split: Channel | null): [string, Fields[]][] | null {
  const found = new Map<string, Fields[]>();
  const places = split === null ? null : placesOf({ ...split, type: split.type === "quantitative" ? "ordinal" : split.type, scale: {} }, records);
  if (split !== null && places === null) return null;
  for (const record of records) {
    const name = places === null ? "" : shown(places.place(record) ?? "", places.wish);
    const before = found.get(name);
    if (before === undefined) found.set(name, [record]);
    else before.push(record);
    if (found.size > MOST_SERIES) return null;
  }
  const order = orderOf(split, "", null, "up");
  if (order === "data") return [...found];
  const ranks = new Map(Array.isArray(order) ? order.map((name, at) => [name, at]) : []);
  const rank = (name: string) => ranks.get(name) ?? ranks.size;
  return [...found].sort(([one], [other]) => rank(one) - rank(other) || (order === "down" ? inOrder(other, one) : inOrder(one, other)));
}

function ofMarks({ mark, encoding, title }: Unit, kind: Mark, records: Fields[]): Plane | null {
  const [x, y] = [channel(encoding["x"]), channel(encoding["y"])];
  const isTimeline = (kind === "bar" || kind === "span") && x?.type === "temporal" && encoding["x2"] !== undefined && y !== null && isDiscrete(y) && x.timeUnit === null && x.aggregate === null;
  const isFlat = isTimeline || isValue(x) && (!isValue(y) || (x?.aggregate !== null && y?.aggregate === null && kind !== "line"));
  const [place, value] = isFlat ? [y, x] : [x, y];
  const [placeName, valueName] = isFlat ? ["y", "x"] as const : ["x", "y"] as const;
  if (kind === "span" && (x === null || y === null)) return throughAll(x ?? y, x === null, title, records);
  if (value === null || !(isTimeline || isValue(value)) || !["", "linear", "log", "time", "utc"].includes(text(value.scale["type"]))) return null;
  const places = placesOf(place, records);
  if (places === null) return null;
  const join = joinOf(value);
  if (join === undefined || (join !== null && kind === "box")) return null;

  const drawn = SPLITS.map((name) => channel(encoding[name])).filter((one) => one !== null);
  const isSame = (one: Channel) => one.field === value.field && one.aggregate === value.aggregate;
  const heat = drawn.find((one) => isValue(one) && kind === "points") ?? null;
  const splits = drawn.filter((one) => !isValue(one));
  const [split] = splits;
  // The colour of a value that the mark shows as its length says it twice.
  if (splits.some((one) => one.field !== split?.field) || drawn.some((one) => isValue(one) && one !== heat && !isSame(one))) return null;
  const size = kind === "points" ? channel(encoding["size"]) : null;
  if (joinOf(heat) === undefined || joinOf(size) === undefined || (channel(encoding["size"]) !== null && size === null) || (size !== null && !isValue(size))) return null;
  if (join === null && (joinOf(heat) !== null || joinOf(size) !== null)) return null;

  const groups = bySeries(records, split ?? null);
  const isWhole = fields(mark)["extent"] === "min-max";
  const second = channel(encoding[`${valueName}2`]);
  const placeEnd = channel(encoding[`${placeName}2`]);
  if (groups === null || (second !== null && join !== null) || (placeEnd !== null && place?.bin !== "binned")) return null;
  if (second !== null ? !["area", "bar", "span"].includes(kind) : kind === "span") return null;
  const byOrder = channel(encoding["order"]);
  const make = (all: Fields[]): Point[] => {
    if (kind === "box") return boxesOf(all, value, places, isWhole);
    if (join !== null) return joined(all, value, join, places, [heat, size]);
    const sorted = byOrder?.field == null ? all : [...all].sort((one, other) => inOrder(sortable(one, byOrder), sortable(other, byOrder)));
    return plain(sorted, value, places, { heat, size, second });
  };
  const isLine = kind === "line" || kind === "both" || kind === "area";
  const series = groups.map(([name, all]): Series => {
    const points = make(all).map((point) => withEnd(point, places, placeEnd, all));
    if (isLine && byOrder === null && place?.spec["sort"] !== null && places.wish.type !== "category") points.sort((one, other) => inOrder(one.x, other.x));
    return { kind, name, points };
  });

  const stack = value.spec["stack"];
  if (stack === "center") return null;
  const isOffset = encoding["xOffset"] !== undefined || encoding["yOffset"] !== undefined;
  const isApart = stack === null || stack === false || second !== null || value.scale["type"] === "log" || split === undefined || !["bar", "area"].includes(kind);
  const isBeside = isOffset || (kind === "box" && split !== undefined && split.field !== place?.field);
  const together: Together = isBeside ? "group" : isApart ? "overlay" : stack === "normalize" ? "share" : "stack";
  const order = orderOf(place, valueName, value.field, places.wish.order);
  const wish: Wish = { ...places.wish, order, isReversed: places.wish.isReversed !== (isFlat && places.wish.type === "category") };
  return plane({
    title, series, together, isFlat, x: wish, heat: heat?.title ?? "",
    y: { title: value.title, type: isTimeline ? "date" : text(value.scale["type"]) === "log" ? "log" : "", isReversed: value.scale["reverse"] === true, order: "data" },
  });
}

const sortable = (record: Fields, one: Channel): Position => {
  const value = valueOf(record, one.field ?? "");
  return isPlace(value) ? value : "";
};

/** A line through the whole chart for each value. */
function throughAll(one: Channel | null, isUp: boolean, title: string, records: Fields[]): Plane | null {
  const join = joinOf(one);
  if (one === null || join === undefined || (!isValue(one) && join === null && one.type !== "temporal")) return null;
  const places = join === null ? placesOf(one, records) : null;
  const found = join === null ? [...new Set(records.map((record) => places?.place(record) ?? null))] : [join(records.map((record) => amount(one, record)).filter((value) => value !== null))];
  const values = found.filter(isNumber).slice(0, 200);
  const points = values.map((value): Point => (isUp ? { x: "", y: value } : { x: value, y: 0 }));
  const axis: Wish = { title: one.title, type: one.type === "temporal" ? "date" : "", isReversed: false, order: "up" };
  const none: Wish = { ...axis, title: "", type: "" };
  return plane({ title, series: [{ kind: isUp ? "rule" : "post", name: "", points }], together: "overlay", isFlat: false, x: isUp ? none : axis, y: isUp ? axis : none });
}

/** Where a bin ends that begins at a place. */
function withEnd(point: Point, places: Places, end: Channel | null, records: Fields[]): Point {
  if (places.edges === null || typeof point.x !== "number") return point;
  if (places.edges.length > 0) {
    const width = (places.edges[1] as number) - (places.edges[0] as number);
    return { ...point, end: point.x + width };
  }
  const [first] = end?.field == null ? [] : records;
  const width = first === undefined ? NaN : Number(valueOf(first, end?.field as string)) - Number(places.place(first));
  return isNumber(width) && width > 0 ? { ...point, end: point.x + width } : point;
}

/** One point for each record. */
function plain(all: Fields[], value: Channel, places: Places, more: { heat: Channel | null; size: Channel | null; second: Channel | null }): Point[] {
  const found: Point[] = [];
  let isNew = false;
  const other = (record: Fields, one: Channel | null, name: string) => {
    const seen = one?.field == null ? null : name === "from" && value.type === "temporal" ? timeOf(valueOf(record, one.field)) : numberOf(valueOf(record, one.field));
    return seen === null ? {} : { [name]: seen };
  };
  for (const record of all) {
    const [x, y] = [places.place(record), amount(value, record)];
    if (x === null || y === null) {
      isNew = found.length > 0;
      continue;
    }
    found.push({ x, y, ...(isNew ? { isNew } : {}), ...other(record, more.heat, "heat"), ...other(record, more.size, "size"), ...other(record, more.second, "from") });
    isNew = false;
  }
  return found;
}

/** One point for all records of a place. */
function joined(all: Fields[], value: Channel, join: Join, places: Places, [heat, size]: [Channel | null, Channel | null]): Point[] {
  const groups = new Map<Position, number[]>();
  const more = [heat, size].map((one) => ({ one, groups: new Map<Position, number[]>() }));
  for (const record of all) {
    const [x, y] = [places.place(record), amount(value, record)];
    if (x === null || y === null) continue;
    add(groups, x, y);
    for (const { one, groups: others } of more) {
      const also = one === null ? null : amount(one, record);
      if (also !== null) add(others, x, also);
    }
  }
  const other = (at: 0 | 1, name: string, x: Position) => {
    const numbers = more[at]?.groups.get(x);
    return numbers === undefined ? {} : { [name]: (joinOf(more[at]?.one ?? null) ?? JOINS.get("mean") as Join)(numbers) };
  };
  return [...groups].map(([x, numbers]) => ({ x, y: join(numbers), ...other(0, "heat", x), ...other(1, "size", x) })).filter(({ y }) => isNumber(y));
}

function boxesOf(all: Fields[], value: Channel, places: Places, isWhole: boolean): Point[] {
  const groups = new Map<Position, number[]>();
  for (const record of all) {
    const [x, y] = [places.place(record), amount(value, record)];
    if (x !== null && y !== null) add(groups, x, y);
  }
  return [...groups].flatMap(([x, numbers]) => {
    const box = boxOf(numbers, false);
    const [low, high] = extent(numbers);
    return box === null ? [] : [{ x, y: box.middle, box: isWhole ? { ...box, low, high, outliers: [] } : box }];
  });
}

/** The records of any chart of Vega or Vega-Lite: its first ones that are there. */
export function anyValues(spec: Fields): unknown[] | null {
  const sets = list(spec["data"]).map(fields).concat(Object.values(fields(spec["datasets"])).map((values) => ({ values })));
  const units = [spec, ...["layer", "hconcat", "vconcat", "concat"].flatMap((name) => list(spec[name]).map(fields)), fields(spec["spec"])];
  for (const unit of units) {
    const values = vegaValues(unit, spec);
    if (values !== null) return values;
  }
  return sets.map(({ values }) => values).find((values) => Array.isArray(values)) as unknown[] | undefined ?? null;
}
