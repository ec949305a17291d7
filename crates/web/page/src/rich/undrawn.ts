//! Figures that the page does not draw, as tables of their values, with words for what they are. Pure.

import { PLOTLY } from "./chart";
import { column, matrix } from "./column";
import { type Fields, fields, list, MOST, MOST_SERIES, text } from "./figure";
import { plain, traces } from "./plotly";
import { cellText, ofRecords, ofRows, type Table } from "./table";
import { anyValues } from "./vega";

/** A figure as its values. */
export interface Undrawn {
  /** Which kind is not drawn. */
  note: string;
  table: Table | null;
}

export function undrawnOf(mime: string, source: string): Undrawn | null {
  const isPlotly = mime === PLOTLY;
  if (!isPlotly && !/^application\/vnd\.vega(?:lite)?\./.test(mime)) return null;
  try {
    const figure = fields(JSON.parse(source) as unknown);
    const table = isPlotly ? plotlyTable(figure) : ofRecords((anyValues(figure) ?? []).slice(0, MOST).map(fields));
    const name = isPlotly ? plotlyKind(figure) : vegaKind(mime, figure);
    return { note: `The page does not draw ${name}.${table === null ? " This is the description of the chart." : " These are its values."}`, table };
  } catch {
    return null;
  }
}

const THREE = ["scatter3d", "surface", "mesh3d", "volume", "isosurface", "cone", "streamtube"];

function plotlyKind(figure: Fields): string {
  const all = traces(figure);
  const types = all.map((trace) => text(trace["type"]) || "scatter");
  if (types.some((type) => THREE.includes(type))) return "charts in three dimensions";
  if (types.some((type) => /geo|map(?!$)|mapbox|^choropleth/.test(type) && !type.startsWith("heatmap"))) return "maps";
  if (all.some((trace) => (trace["xaxis"] ?? "x") !== "x" || (trace["yaxis"] ?? "y") !== "y")) return "charts with several pairs of axes";
  if (all.length > MOST_SERIES) return `charts of more than ${MOST_SERIES} series`;
  const known = ["scatter", "scattergl", "bar", "histogram", "box", "pie", "heatmap", "histogram2d"];
  const other = types.find((type) => !known.includes(type) && /^[a-z0-9]{1,24}$/.test(type));
  return other === undefined ? "every part of this chart of Plotly" : `charts of the kind \`${other}\``;
}

function vegaKind(mime: string, spec: Fields): string {
  if (!mime.startsWith("application/vnd.vegalite.")) return "charts of Vega, only those of Vega-Lite";
  if (["hconcat", "vconcat", "concat", "facet", "repeat"].some((name) => spec[name] !== undefined)) return "several charts in one";
  if (["row", "column", "facet"].some((name) => fields(spec["encoding"])[name] !== undefined)) return "several charts in one";
  if (spec["transform"] !== undefined) return "charts that transform their data";
  const mark = text(spec["mark"]) || text(fields(spec["mark"])["type"]);
  const known = ["line", "bar", "point", "circle", "square", "area", "arc", "rect", "boxplot", "tick", "rule"];
  return /^[a-z]{1,24}$/.test(mark) && !known.includes(mark) ? `charts of the mark \`${mark}\`` : "every part of this chart of Vega-Lite";
}

/** Columns of a trace that say something, in this order. */
const COLUMNS = ["x", "y", "z", "labels", "ids", "parents", "values", "value", "lat", "lon", "locations", "r", "theta", "a", "b", "c", "u", "v", "w", "open", "high", "low", "close", "measure", "base", "i", "j", "k", "q1", "median", "q3", "text"];

function plotlyTable(figure: Fields): Table | null {
  const all = traces(figure);
  const [only] = all;
  if (all.length === 1 && only?.["type"] === "table") return given(only);
  const parts = all.map((trace, at) => ({ name: plain(trace["name"]) || `trace ${at}`, ...valuesOf(trace) })).filter((part) => part.length > 0);
  const names = COLUMNS.concat("source", "target").filter((name) => parts.some((part) => part.columns.has(name)));
  if (names.length === 0) return null;
  const rows: string[][] = [];
  for (const part of parts) {
    for (let at = 0; at < part.length && rows.length < MOST; at += 1) {
      const cells = names.map((name) => cellText(part.columns.get(name)?.(at)));
      rows.push(parts.length > 1 ? [part.name, ...cells] : cells);
    }
  }
  return ofRows(parts.length > 1 ? ["trace", ...names] : names, rows);
}

interface Values {
  columns: Map<string, (at: number) => unknown>;
  length: number;
}

function valuesOf(trace: Fields): Values {
  const columns: Values["columns"] = new Map();
  let length = 0;
  const put = (name: string, all: unknown[]) => {
    columns.set(name, (at) => all[at]);
    length = Math.max(length, all.length);
  };
  const link = fields(trace["link"]);
  if (trace["type"] === "sankey") {
    const labels = list(fields(trace["node"])["label"]);
    const named = (value: unknown) => labels[Number(value)] ?? value;
    for (const name of ["source", "target"]) put(name, (column(link[name]) ?? []).map(named));
    put("value", column(link["value"]) ?? []);
    return { columns, length };
  }
  for (const name of COLUMNS) {
    const all = trace[name] === undefined ? null : column(trace[name]);
    if (all !== null && !all.some((value) => typeof value === "object" && value !== null)) put(name, all);
  }
  // Rows of heights: one row of the table for each.
  const rows = columns.has("z") || trace["z"] === undefined ? null : matrix(trace["z"]);
  const wide = rows?.[0]?.length ?? 0;
  if (rows !== null && wide > 0) {
    const [x, y] = [columns.get("x"), columns.get("y")];
    columns.set("x", (at) => (x === undefined ? at % wide : x(at % wide)));
    columns.set("y", (at) => (y === undefined ? Math.floor(at / wide) : y(Math.floor(at / wide))));
    columns.set("z", (at) => rows[Math.floor(at / wide)]?.[at % wide]);
    length = wide * rows.length;
  }
  return { columns, length };
}

/** The table that a trace is. */
function given(trace: Fields): Table | null {
  const names = list(fields(trace["header"])["values"]).map((value) => plain(Array.isArray(value) ? value.map(String).join(" ") : String(value)));
  const cells = list(fields(trace["cells"])["values"]).map((values) => column(values) ?? []);
  const length = cells.reduce((most, one) => Math.max(most, one.length), 0);
  return ofRows(names, Array.from({ length: Math.min(length, MOST) }, (_, at) => names.map((_name, index) => cellText(cells[index]?.[at]))));
}
