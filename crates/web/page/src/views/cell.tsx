//! One piece of code and what came of it: the answer, the output, the effects.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Cell, Shown } from "../model";
import { showChanges } from "../place";
import { enter, rows } from "../store";
import { may, person } from "../who";
import { count, duration, languageName, RISKS } from "../words";
import { oneLine } from "../foreign";
import { GoingBack } from "./back";
import { CodeCard } from "./card";
import { CodeLines } from "./code";
import { TextOutput } from "./output";
import { Menu } from "./menu";
import { memo } from "./memo";
import { Rich } from "./rich";
import { Foreign, Name, Tag } from "./text";

/** Code of more lines than this is folded once it has run. */
const LONG = 24;

/** Draws a cell again only when it has changed. */
export const CellView = memo(
  ({ session, cell, rev, ended }: { session: string; cell: Cell; rev: number; ended: boolean }): JSX.Element => (
    <article class={`cell ${cell.rewound ? "rewound" : ""}`} aria-label={`${languageName(cell.language)}, ${cell.id}`} data-cell={cell.id}>
      {cell.asked?.open === true && !ended ? <CodeCard key={cell.asked.question.id} session={session} asked={cell.asked} rev={rev} /> : <Source cell={cell} session={session} rev={rev} ended={ended} />}
      <Outputs session={session} cell={cell} rev={rev} />
      {cell.running && cell.shown.length === 0 && <p class="running muted">Running…</p>}
      <Outcome cell={cell} ended={ended} />
    </article>
  ),
  (one, other) => one.rev === other.rev && one.cell === other.cell && one.session === other.session && one.ended === other.ended,
);

/** Pieces of output that are drawn at once. */
const PIECES = 40;
const MORE = 400;

/** What the code showed, the newest pieces first if there are many. */
function Outputs({ session, cell }: { session: string; cell: Cell; rev: number }): JSX.Element {
  const [drawn, setDrawn] = useState(PIECES);
  const from = Math.max(0, cell.shown.length - drawn);
  return (
    <>
      {from > 0 && <button type="button" class="unfold" onClick={() => setDrawn(drawn + MORE)}>{count(from, "earlier piece")} of output</button>}
      {cell.shown.slice(from).map((shown, at) => <ShownView key={from + at} session={session} shown={shown} running={cell.running} />)}
    </>
  );
}

function ShownView({ session, shown, running }: { session: string; shown: Shown; running: boolean }): JSX.Element {
  return shown.type === "text"
    ? <TextOutput text={shown.text} stream={shown.stream} running={running} />
    : <Rich session={session} seq={shown.seq} output={shown.output} />;
}

function Source({ cell, session, ended }: { cell: Cell; session: string; rev: number; ended: boolean }): JSX.Element {
  const [back, setBack] = useState(false);
  const row = rows.value.get(session);
  const canGoBack = !ended && !cell.rewound && cell.finished !== undefined && may("prompt", row) && may("change", row);
  const code = cell.edited ?? cell.code;
  const length = code.split("\n").length;
  const [open, setOpen] = useState(length <= LONG);
  return (
    <div class="source">
      <header class="source-head">
        <span class="source-name">{languageName(cell.language)}</span>
        {cell.risk !== undefined && RISKS[cell.risk] !== undefined && <Tag tone={cell.risk}>{RISKS[cell.risk].word}</Tag>}
        <span class="muted">{answered(cell)}</span>
        <Menu label="More about this cell">
          <button type="button" onClick={() => void enter("fork", { session, before: cell.id })}>Fork before this cell</button>
          {canGoBack && <button type="button" data-act="rewind" onClick={() => setBack(true)}>Go back to before this cell</button>}
        </Menu>
      </header>
      {open
        ? <CodeLines code={code} language={cell.language} {...(cell.line === undefined ? {} : { at: cell.line })} label={`Code of ${cell.id}`} />
        : <CodeLines code={code.split("\n").slice(0, 8).join("\n")} language={cell.language} label={`First lines of ${cell.id}`} />}
      {length > LONG && <button type="button" class="unfold" onClick={() => setOpen(!open)}>{open ? "Fold the code" : count(length - 8, "more line")}</button>}
      {back && canGoBack && <GoingBack session={session} cell={cell.id} onClose={() => setBack(false)} />}
    </div>
  );
}

const BY: { [by: string]: string } = {
  person: "you", flag: "a flag", typed: "you typed it", rule: "a rule", mode: "the mode", standing: "a standing answer", nobody: "nobody answered",
};

function answered(cell: Cell): string {
  const { answer, asked } = cell;
  if (answer === undefined) return asked === undefined ? "" : "Not answered";
  const who = answer.who === undefined ? BY[answer.by] ?? answer.by : person(answer.who);
  if (answer.decision === "reject") return `Rejected by ${who}${answer.reason === undefined ? "" : `: ${oneLine(answer.reason, 200)}`}`;
  return `${answer.decision === "edit" ? "Edited and approved" : "Approved"} by ${who}`;
}

function Outcome({ cell, ended }: { cell: Cell; ended: boolean }): JSX.Element | null {
  const { finished } = cell;
  const refused = cell.network.filter((one) => one.verdict === "refused");
  const reached = cell.network.filter((one) => one.verdict !== "refused");
  const parts: JSX.Element[] = [];
  if (finished !== undefined) {
    const failed = finished.status !== 0 || finished.signal !== null || finished.limit !== null;
    const words = finished.limit !== null ? `Stopped: ${oneLine(finished.limit, 200)}`
      : finished.signal !== null ? `Ended by signal ${finished.signal}`
        : failed ? `Failed${finished.status === null ? "" : ` with status ${finished.status}`}` : "Done";
    parts.push(<span key="end" class={failed ? "bad" : ""}>{words} · {duration(finished.ms)}{finished.kernelEnded ? " · the next code starts afresh" : ""}</span>);
  }
  if (reached.length > 0) parts.push(<span key="net">Reached {reached.slice(0, 3).map((one, at) => <span key={at}>{at > 0 ? ", " : ""}<Name text={`${one.host}:${one.port}`} most={80} /></span>)}</span>);
  if (refused.length > 0) parts.push(<span key="no" class="bad">Refused {refused.slice(0, 3).map((one, at) => <span key={at}>{at > 0 ? ", " : ""}<Name text={`${one.host}:${one.port}`} most={80} /></span>)}</span>);
  if (cell.denials.length > refused.length) parts.push(<span key="deny" class="bad">The sandbox refused {count(cell.denials.length - refused.length, "thing")}</span>);
  if (cell.files.length > 0) {
    parts.push(
      <span key="files">
        {ended ? count(cell.files.length, "changed file") : <button type="button" class="quiet link-words" onClick={() => showChanges.value = true}>{count(cell.files.length, "staged file")}</button>}
      </span>,
    );
  }
  if (cell.missing.length > 0) parts.push(<span key="missing" class="bad">Not fully confined: <Foreign text={cell.missing.join(", ")} /></span>);
  return parts.length === 0 ? null : <p class="outcome">{parts.map((part, at) => [at > 0 ? " · " : "", part])}</p>;
}
