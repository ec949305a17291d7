//! Tables that a result is, in any of the forms that data comes in. Pure.
//!
//! A form that is no table, or not only one, gives nothing: then it is shown as what it is.

import { decodeNamedCharacterReference } from "decode-named-character-reference";

export interface Table {
  names: string[];
  rows: readonly (readonly string[])[];
  /** Columns of numbers, which are set flush right. */
  numeric: boolean[];
}

/** Cells of a table that are read at most. */
const MOST_CELLS = 20_000_000;

/** The table that a form of a result is. */
export function tableOf(mime: string, text: string): Table | null {
  switch (mime) {
    case "text/csv": return delimited(text, ",");
    case "text/tab-separated-values": return delimited(text, "\t");
    case "text/html": return ofHtml(text);
    default: return /[/+]json$/.test(mime) ? ofJson(text) : null;
  }
}

/** A table of cells that are text already, if there are some and not too many. */
export function ofRows(names: string[], rows: string[][]): Table | null {
  if (names.length === 0 || rows.length === 0 || names.length * rows.length > MOST_CELLS) return null;
  const numeric = names.map((_, at) => rows.slice(0, 200).every((row) => /^(?:[-−+]?[\d.,_]+(?:e[-+]?\d+)?%?|nan|null|)$/i.test(row[at] ?? "")));
  return { names, rows, numeric };
}

/** A value as the text of its cell. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

type Fields = { [field: string]: unknown };
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** Records of the same fields, or a table with its schema. */
function ofJson(text: string): Table | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (isFields(value) && isFields(value["schema"]) && Array.isArray(value["schema"]["fields"]) && Array.isArray(value["data"])) {
    const names = value["schema"]["fields"].map((field: unknown) => (isFields(field) ? String(field["name"] ?? "") : ""));
    return ofRecords(value["data"], names);
  }
  return Array.isArray(value) ? ofRecords(value) : null;
}

/** The same, of values that were read already. */
export function ofRecords(all: unknown[], known?: string[]): Table | null {
  if (all.length === 0 || !all.every(isFields)) return null;
  const names = known ?? [...new Set(all.slice(0, 200).flatMap((record) => Object.keys(record)))];
  return ofRows(names, all.map((record) => names.map((name) => cellText(record[name]))));
}

/** Comma separated values, with quotes. The first line has the names. */
function delimited(text: string, separator: string): Table | null {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let field = "";
    if (text[at] === '"') {
      for (at += 1; at < text.length; at += 1) {
        const next = text.indexOf('"', at);
        const end = next < 0 ? text.length : next;
        field += text.slice(at, end);
        at = end + 1;
        if (text[at] !== '"') break;
        field += '"';
      }
    }
    let end = at;
    while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r") end += 1;
    row.push(field + text.slice(at, end));
    at = end + 1;
    if (text[end] === separator) continue;
    if (text[end] === "\r" && text[at] === "\n") at += 1;
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(text.endsWith(separator) ? [...row, ""] : row);
  const [names, ...rest] = rows;
  return names === undefined ? null : ofRows(names, rest.filter((one) => one.length > 1 || one[0] !== ""));
}

/** A tag. One that is longer is none, so that a search never looks at everything for each `<`. */
const TAG = /<(\/?)([a-z][a-z0-9]{0,20})(?:[^<>"']|"[^"]{0,2000}"|'[^']{0,2000}'){0,2000}>/gi;

/** The only table of a page, if its cells are plain and none spans another. */
function ofHtml(html: string): Table | null {
  if (!/<table/i.test(html) || /\b(?:row|col)span\s*=\s*["']?[2-9]/i.test(html)) return null;
  const rows: string[][] = [];
  let [tables, heads, from, isCell, isHidden] = [0, 0, 0, false, 0];
  let row: string[] = [];
  let inHead = false;
  TAG.lastIndex = 0;
  for (let found = TAG.exec(html); found !== null; found = TAG.exec(html)) {
    const isEnd = found[1] === "/";
    const name = (found[2] as string).toLowerCase();
    if (isHidden === 0 && isCell) row[row.length - 1] += html.slice(from, found.index);
    from = TAG.lastIndex;
    if (name === "style" || name === "script") isHidden += isEnd ? -1 : 1;
    else if (name === "table" && !isEnd) tables += 1;
    else if (name === "thead") inHead = !isEnd;
    else if (name === "tr") {
      isCell = false;
      if (!isEnd) row = [];
      else if (row.length > 0) {
        if (inHead) heads += 1;
        rows.push(row.map(decoded));
        row = [];
      }
    } else if (name === "td" || name === "th") {
      isCell = !isEnd;
      if (!isEnd) row.push("");
    }
  }
  const [names, ...rest] = rows;
  return tables !== 1 || heads > 1 || names === undefined || rest.some((one) => one.length !== names.length) ? null : ofRows(names, rest);
}

/** Whether a page says something without its scripts and styles. */
export function hasWords(html: string): boolean {
  const lower = html.toLowerCase();
  for (let at = 0; at < html.length;) {
    const open = lower.indexOf("<", at);
    if (/[^\s]/.test(html.slice(at, open < 0 ? html.length : open).replace(/&nbsp;/g, " "))) return true;
    if (open < 0) return false;
    const hidden = /^<(?:script|style|template|!--)/.exec(lower.slice(open, open + 12))?.[0];
    const end = hidden === undefined ? ">" : hidden === "<!--" ? "-->" : `</${hidden.slice(1)}`;
    if (/^<(?:img|svg|table)\b/.test(lower.slice(open, open + 10))) return true;
    const close = lower.indexOf(end, open + 1);
    if (close < 0) return false;
    at = hidden === undefined || hidden === "<!--" ? close + end.length : close;
  }
  return false;
}

function decoded(text: string): string {
  const found = text.replace(/&(#x[0-9a-f]+|#\d+|[a-z][a-z0-9]*);/gi, (all, name: string) => {
    if (!name.startsWith("#")) return decodeNamedCharacterReference(name) || all;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : all;
  });
  return found.replace(/\s+/g, " ").trim();
}
