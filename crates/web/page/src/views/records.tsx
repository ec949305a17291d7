//! The records of one session as they are kept: a list of which only what is in sight is elements,
//! and one record unfolded beside it. Pages come as they are scrolled to.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { request, rows, standing } from "../store";
import type { Failure, Record } from "../wire";
import { person } from "../who";
import { count } from "../words";
import { oneLine } from "../foreign";
import { failureOf, Problem } from "./looked";
import { Foreign, Name, Tag } from "./text";
import { Top } from "./top";

const ROW = 40;
const PAGE = 200;

interface Pages {
  records: Record[];
  after: number;
  more: boolean;
  of: number;
  whole: boolean | null;
  broken: string | null;
}

const NONE: Pages = { records: [], after: 0, more: true, of: 0, whole: null, broken: null };

/** Records page by page; a new search begins anew. */
function usePages(session: string, search: string): { pages: Pages; failure: Failure | null; busy: boolean; next(): void } {
  const [pages, setPages] = useState(NONE);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const asked = useRef({ search: "", running: false, number: 0 });
  const load = (from: Pages) => {
    asked.current.number += 1;
    const mine = asked.current.number;
    asked.current.running = true;
    setBusy(true);
    const fields = { at: "record", session, after: from.after, limit: PAGE, ...(search === "" ? {} : { search }) };
    const done = (act: () => void) => {
      if (asked.current.number !== mine) return;
      asked.current.running = false;
      setBusy(false);
      act();
    };
    request("look", fields).then(
      (ok) => done(() => {
        setFailure(null);
        setPages({
          records: [...from.records, ...(ok["records"] as Record[])], after: ok["after"] as number, more: ok["more"] === true, of: ok["of"] as number,
          whole: typeof ok["whole"] === "boolean" ? ok["whole"] : from.whole, broken: typeof ok["broken"] === "string" ? ok["broken"] : from.broken,
        });
      }),
      (problem: unknown) => done(() => setFailure(failureOf(problem))),
    );
  };
  const isOpen = standing.value === "open";
  useEffect(() => {
    if (!isOpen || session === "") return;
    const wait = setTimeout(() => {
      setPages(NONE);
      load(NONE);
    }, search === asked.current.search ? 0 : 200);
    asked.current.search = search;
    return () => {
      clearTimeout(wait);
      asked.current.number += 1;
      asked.current.running = false;
    };
  }, [session, search, isOpen]);
  return { pages, failure, busy, next: () => {
    if (pages.more && !asked.current.running && isOpen) load(pages);
  } };
}

export function RecordsView({ session }: { session: string }): JSX.Element {
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<number | null>(null);
  const { pages, failure, busy, next } = usePages(session, words.trim());
  const title = rows.value.get(session)?.title ?? "";
  const at = pages.records.findIndex((record) => record.seq === chosen);
  const record = pages.records[at];
  return (
    <div class="talk">
      <Top title={<>Record of <Name text={title === "" ? "this session" : title} most={80} /></>}
        about={<>
          {pages.whole !== null && <Tag tone={pages.whole ? "low" : "high"}><span data-whole={String(pages.whole)}>{pages.whole ? "All linked" : "Broken"}</span></Tag>}
          <span>{count(pages.of, "record")}</span>
        </>}>
        <a class="chip" href={`#/s/${encodeURIComponent(session)}`} data-act="back">Back<span class="wide-only"> to the session</span></a>
      </Top>
      {pages.broken !== null && <p class="problem in-head" role="alert"><Foreign text={pages.broken} /></p>}
      {failure !== null && <div class="in-head"><Problem failure={failure} /></div>}
      <div class="tools in-head">
        <label class="search"><span class="sr">Search in these records</span><input type="search" placeholder="Search in these records" value={words} data-field="records" onInput={(event) => setWords(event.currentTarget.value)} /></label>
      </div>
      <div class={`kept ${record === undefined ? "" : "with-one"}`}>
        <List all={pages.records} more={pages.more} busy={busy} chosen={at} choose={(index) => setChosen(pages.records[index]?.seq ?? null)} next={next} />
        {record !== undefined && <One key={record.seq} record={record} close={() => setChosen(null)} />}
      </div>
    </div>
  );
}

function List({ all, more, busy, chosen, choose, next }: { all: Record[]; more: boolean; busy: boolean; chosen: number; choose(at: number): void; next(): void }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top / ROW) - 10);
  const last = Math.min(all.length, Math.ceil((top + height) / ROW) + 10);
  const nearEnd = last >= all.length - 10;
  useEffect(() => {
    if (more && nearEnd && !busy && all.length > 0) next();
  }, [more, nearEnd, busy, all.length]);
  const move = (to: number) => {
    const at = Math.max(0, Math.min(all.length - 1, to));
    choose(at);
    const element = box.current;
    if (element === null) return;
    if (at * ROW < element.scrollTop) element.scrollTop = at * ROW;
    else if ((at + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (at + 1) * ROW - element.clientHeight;
  };
  const page = Math.max(1, Math.floor(height / ROW) - 1);
  const KEYS: { [key: string]: number } = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, PageDown: chosen + page, PageUp: chosen - page, Home: 0, End: all.length - 1 };
  return (
    <div ref={box} class="kept-list" tabIndex={0} role="listbox" aria-label="Records" aria-busy={busy} data-loaded={all.length}
      aria-activedescendant={chosen >= first && chosen < last && chosen >= 0 ? `kept-${chosen}` : undefined}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={(event) => {
        const to = KEYS[event.key];
        if (to === undefined || all.length === 0) return;
        event.preventDefault();
        move(to);
      }}>
      <div class="kept-all" style={{ height: `${all.length * ROW}px` }} role="presentation">
        {all.slice(first, last).map((record, offset) => {
          const at = first + offset;
          return (
            <div key={record.seq} id={`kept-${at}`} class={`kept-row ${at === chosen ? "here" : ""}`} role="option" aria-selected={at === chosen} aria-posinset={at + 1} aria-setsize={more ? -1 : all.length}
              style={{ transform: `translateY(${at * ROW}px)` }} data-seq={record.seq} onClick={() => choose(at)}>
              <span class="kept-seq">{record.seq}</span>
              <span class="kept-kind"><Foreign text={record.kind} /></span>
              <span class="kept-gist muted"><Foreign text={gist(record)} /></span>
              <span class="kept-time muted">{record.time.slice(11, 19)}</span>
            </div>
          );
        })}
      </div>
      {all.length === 0 && <p class="muted kept-none" role="presentation">{busy || more ? "Reading the records…" : "No record has these words."}</p>}
    </div>
  );
}

const NAMED = ["text", "code", "message", "prompt", "rule", "decision", "host", "id", "model", "state", "why", "reason", "proposal"];

/** The telling part of a record, on one line. */
function gist(record: Record): string {
  const who = record.who === undefined ? "" : `${person(record.who)}: `;
  for (const name of NAMED) {
    const value = record[name];
    if (typeof value === "string" && value.trim() !== "") return oneLine(who + value.trim(), 160);
  }
  return who === "" ? "" : who.slice(0, -2);
}

function One({ record, close }: { record: Record; close(): void }): JSX.Element {
  return (
    <section class="kept-one" aria-label={`Record ${record.seq}`}>
      <header class="kept-head"><h2>Record {record.seq}</h2><span class="muted">{record.time}</span><button type="button" data-act="close-record" onClick={close}>Close</button></header>
      <div class="kept-tree" tabIndex={0} role="group" aria-label="Content"><Tree value={record} depth={0} /></div>
    </section>
  );
}

/** Entries of a list or an object that are shown at once. */
const MOST = 200;

/** A value, whose inner parts fold. */
function Tree({ value, depth }: { value: unknown; depth: number }): JSX.Element {
  const [most, setMost] = useState(MOST);
  if (value === null || typeof value !== "object") return <Leaf value={value} />;
  const isList = Array.isArray(value);
  const parts: [string, unknown][] = Object.entries(value);
  if (parts.length === 0) return <span class="muted">{isList ? "[]" : "{}"}</span>;
  return (
    <ul class="tree">
      {parts.slice(0, most).map(([name, part]) => {
        const inner = part !== null && typeof part === "object" ? Object.keys(part).length : 0;
        return (
          <li key={name}>
            {inner === 0
              ? <><span class="tree-name"><Foreign text={name} /></span> <Tree value={part} depth={depth + 1} /></>
              : <details open={depth === 0 && inner <= 12}><summary><span class="tree-name"><Foreign text={name} /></span> <span class="muted">{count(inner, Array.isArray(part) ? "item" : "field")}</span></summary><Tree value={part} depth={depth + 1} /></details>}
          </li>
        );
      })}
      {parts.length > most && <li><button type="button" class="unfold" onClick={() => setMost(most + MOST)}>Show {count(Math.min(MOST, parts.length - most), "more item")}</button></li>}
    </ul>
  );
}

const LONG = 2_000;

function Leaf({ value }: { value: unknown }): JSX.Element {
  const [open, setOpen] = useState(false);
  if (typeof value !== "string") return <code class="tree-value">{String(value)}</code>;
  const isLong = value.length > LONG && !open;
  const shown = isLong ? value.slice(0, LONG) : value;
  if (!value.includes("\n") && value.length < 80) return <code class="tree-value"><Foreign text={value === "" ? "“”" : value} /></code>;
  return (
    <>
      <pre class="tree-text"><Foreign text={shown} /></pre>
      {isLong && <button type="button" class="unfold" onClick={() => setOpen(true)}>Show {count(value.length - LONG, "more character")}</button>}
    </>
  );
}
