//! Results that are more than text: pictures, drawings, pages, formulas, data.
//!
//! Pictures and drawings come as images, which run nothing. A page comes in a frame without an
//! origin, and the server has taken its scripts and links out. This page never reads what is in it.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { oneLine } from "../foreign";
import { proof, sha256 } from "../login";
import { chartOf, PLOTLY } from "../rich/chart";
import type { Chart } from "../rich/figure";
import { formula, type MathNode } from "../rich/formula";
import { hasWords, type Table, tableOf } from "../rich/table";
import { undrawnOf } from "../rich/undrawn";
import { currentKey } from "../store";
import type { Output } from "../wire";
import { size } from "../words";
import { ChartView, ValuesView } from "./chart";
import { CodeLines } from "./code";
import { Formula } from "./formula";
import { TextOutput } from "./output";
import { Prose } from "./prose";
import { TableView } from "./table";

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];
const ORDER = [...PICTURES, "text/html", "text/markdown", "text/latex", "application/json"];
/** A table of a page with more rows than this is shown as a table at first. */
const LONG_TABLE = 60;

/** One way to show a result. */
interface FormSeen {
  mime: string;
  text: string;
  chart?: Chart;
  /** Whether the values of the chart are shown and not the chart. */
  values?: boolean;
  table?: Table;
  /** Why a figure is not drawn. */
  note?: string;
  formula?: MathNode;
}

/** The forms of a result, the best one first. */
export function forms(output: Output): FormSeen[] {
  const all = new Map<string, string>(Object.entries(output.bundle ?? {}));
  if (output.text !== "" || all.size === 0) all.set(output.mime, output.text);
  // The page that comes beside such a chart is mostly a script that would fetch another one.
  if (all.has(PLOTLY) && !hasWords(all.get("text/html") ?? "")) all.delete("text/html");
  const rank = ({ mime, chart, values, table, note }: FormSeen): number => {
    if (values === true) return -1.5;
    if (chart !== undefined) return -2;
    // A picture of a figure says more than its values.
    if (table !== undefined && note !== undefined) return PICTURES.length - 0.5;
    if (table !== undefined) return mime === "text/html" && table.rows.length <= LONG_TABLE ? ORDER.indexOf(mime) + 0.5 : -1;
    const at = ORDER.indexOf(mime);
    return at >= 0 ? at : mime.endsWith("json") ? ORDER.length : ORDER.length + 1;
  };
  const found: FormSeen[] = [];
  for (const [mime, text] of all) {
    const chart = chartOf(mime, text);
    if (chart !== null) found.push({ mime, text, chart }, { mime, text, chart, values: true });
    const tree = mime === "text/latex" ? formula(text) : null;
    if (tree !== null) found.push({ mime, text, formula: tree });
    const undrawn = chart === null ? undrawnOf(mime, text) : null;
    const table = chart !== null ? null : undrawn !== null ? undrawn.table : tableOf(mime, text);
    const note = undrawn === null ? {} : { note: undrawn.note };
    if (table !== null) found.push({ mime, text, table, ...note });
    found.push({ mime, text, ...(table === null ? note : {}) });
  }
  return found.sort((one, other) => rank(one) - rank(other));
}

/** Where the server shows a form of a result. */
async function address(session: string, seq: number, mime: string, text: string, output: Output): Promise<string> {
  // The hash is that of the kept file, or that of the form's text as the record has it.
  const hash = output.kept?.hash ?? await sha256(text);
  const path = `/o/${hash}`;
  const query = new URLSearchParams({ session, seq: String(seq), form: mime, k: await proof(currentKey(), path) });
  return `${path}?${query}`;
}

function useAddress(session: string, seq: number, mime: string, text: string, output: Output): string | null {
  const [found, setFound] = useState<string | null>(null);
  useEffect(() => {
    let isWanted = true;
    void address(session, seq, mime, text, output).then((one) => {
      if (isWanted) setFound(one);
    });
    return () => {
      isWanted = false;
    };
  }, [session, seq, mime, text]);
  return found;
}

export function Rich({ session, seq, output }: { session: string; seq: number; output: Output }): JSX.Element {
  const all = useMemo(() => forms(output), [output]);
  const [wanted, setWanted] = useState(0);
  const form = all[Math.min(wanted, all.length - 1)] as FormSeen;
  return (
    <figure class="rich">
      {form.note !== undefined && <p class="muted">{form.note}</p>}
      {form.chart !== undefined ? form.values === true ? <ValuesView chart={form.chart} /> : <ChartView chart={form.chart} />
        : form.formula !== undefined ? <Formula tree={form.formula} />
          : form.table !== undefined ? <TableView table={form.table} />
            : <Form session={session} seq={seq} output={output} mime={form.mime} text={form.text} />}
      {all.length > 1 && (
        <figcaption class="forms" role="group" aria-label="Forms of this result">
          {all.map((one, at) => (
            <button key={at} type="button" class="quiet" aria-pressed={form === one} onClick={() => setWanted(at)}>{formName(one)}</button>
          ))}
        </figcaption>
      )}
    </figure>
  );
}

function formName({ mime, chart, values, table, formula }: FormSeen): string {
  if (chart !== undefined) return values === true ? "Values" : "Chart";
  if (table !== undefined) return "Table";
  if (formula !== undefined) return "Formula";
  const names: { [mime: string]: string } = {
    "image/png": "Picture", "image/jpeg": "Picture (JPEG)", "image/gif": "Picture (GIF)", "image/webp": "Picture (WebP)",
    "image/svg+xml": "Drawing", "text/html": "Page", "text/markdown": "Formatted", "text/latex": "LaTeX", "text/plain": "Text",
  };
  return names[mime] ?? (mime.endsWith("json") ? "Data" : oneLine(mime, 40));
}

interface FormOf {
  session: string;
  seq: number;
  output: Output;
  mime: string;
  text: string;
}

function Form(all: FormOf): JSX.Element {
  const { output, mime, text } = all;
  if (PICTURES.includes(mime)) return <Picture {...all} />;
  if (mime === "text/html") return <Frame {...all} />;
  if (text === "" && output.kept !== undefined) return <p class="muted">{size(output.kept.bytes)} of output are kept beside the record.</p>;
  if (mime === "text/markdown") return <Prose text={text} />;
  if (mime === "text/latex") return <CodeLines code={text} language="latex" label="Formula, as LaTeX" />;
  if (mime.endsWith("json")) return <CodeLines code={pretty(text)} language="json" label="Data" />;
  return <TextOutput text={text} stream="result" running={false} />;
}

function pretty(text: string): string {
  try {
    return text.length > 100_000 ? text : JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function Picture({ session, seq, output, mime, text }: FormOf): JSX.Element {
  const source = useAddress(session, seq, mime, text, output);
  const [failed, setFailed] = useState(false);
  if (failed) return <p class="muted">This picture cannot be shown.</p>;
  if (source === null) return <div class="picture-place" />;
  return <img class="picture" src={source} alt={alternative(output)} loading="lazy" decoding="async" onError={() => setFailed(true)} />;
}

function alternative(output: Output): string {
  const words = output.bundle?.["text/plain"] ?? (output.mime === "text/plain" ? output.text : "");
  return words === "" ? "Picture made by the code" : oneLine(words, 200);
}

function Frame({ session, seq, output, mime, text }: FormOf): JSX.Element {
  const [tall, setTall] = useState(false);
  const source = useAddress(session, seq, mime, text, output);
  if (source === null) return <div class="picture-place" />;
  return (
    <div class={`frame ${tall ? "tall" : ""}`}>
      <iframe sandbox="" src={source} title="Page made by the code" loading="lazy" referrerpolicy="no-referrer" />
      <div class="frame-keys">
        <button type="button" class="quiet" aria-pressed={tall} onClick={() => setTall(!tall)}>{tall ? "Shorter" : "Taller"}</button>
        {/<script/i.test(text) && <span class="muted">Shown without its scripts.</span>}
      </div>
    </div>
  );
}
