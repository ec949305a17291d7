//! Columns of a figure of Plotly: lists, or the bytes of numbers. Pure.

import { fields, isNumber } from "./figure";

type Read = (view: DataView, at: number) => number;
const TYPES: ReadonlyMap<string, [number, Read]> = new Map<string, [number, Read]>([
  ["f8", [8, (view, at) => view.getFloat64(at, true)]], ["f4", [4, (view, at) => view.getFloat32(at, true)]],
  ["i4", [4, (view, at) => view.getInt32(at, true)]], ["u4", [4, (view, at) => view.getUint32(at, true)]],
  ["i2", [2, (view, at) => view.getInt16(at, true)]], ["u2", [2, (view, at) => view.getUint16(at, true)]],
  ["i1", [1, (view, at) => view.getInt8(at)]], ["u1", [1, (view, at) => view.getUint8(at)]], ["u1c", [1, (view, at) => view.getUint8(at)]],
]);
/** Characters of the bytes of a column at most. */
const MOST_BYTES = 8_000_000;

function numbers(value: unknown): number[] | null {
  const { dtype, bdata } = fields(value);
  const type = typeof dtype === "string" ? TYPES.get(dtype) : undefined;
  if (type === undefined || typeof bdata !== "string" || bdata.length > MOST_BYTES) return null;
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.from(atob(bdata), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
  const view = new DataView(bytes.buffer);
  return Array.from({ length: Math.floor(bytes.length / type[0]) }, (_, at) => type[1](view, at * type[0]));
}

/** The size of each dimension, if there are several. */
function shapeOf(value: unknown): number[] {
  const { shape } = fields(value);
  return typeof shape === "string" && /^\d{1,8}(?:, ?\d{1,8}){0,3}$/.test(shape) ? shape.split(",").map(Number) : [];
}

/** A column. */
export function column(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value;
  return shapeOf(value).length > 1 ? null : numbers(value);
}

/** Rows of columns. */
export function matrix(value: unknown): unknown[][] | null {
  if (Array.isArray(value)) {
    const rows = value.map(column);
    return rows.every((row) => row !== null) ? rows : null;
  }
  const [rows, columns, ...more] = shapeOf(value);
  const all = numbers(value);
  if (all === null || rows === undefined || columns === undefined || more.length > 0 || rows * columns !== all.length) return null;
  return Array.from({ length: rows }, (_, at) => all.slice(at * columns, (at + 1) * columns));
}

/** A number, also one that is written as text; anything else is a gap. */
export function numeric(value: unknown): number | null {
  if (isNumber(value)) return value;
  return typeof value === "string" && /^[-+]?\d[\d.]{0,30}(?:e[-+]?\d{1,3})?$/i.test(value) && isNumber(Number(value)) ? Number(value) : null;
}

/** Whether values are numbers, as far as they are not missing. */
export const areNumbers = (all: unknown[]): boolean => all.every((value) => value === null || value === undefined || typeof value === "number" || numeric(value) !== null);
