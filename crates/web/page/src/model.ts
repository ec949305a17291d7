//! A session as the page shows it: what views read, and nothing that they do.
//!
//! An entry's `rev` grows with each change, so that a view can tell what to draw again. `fold.ts`
//! makes it of records.

import type { LiveReply } from "./live";
import type { Capability, FileChange, HostContact, Output, Person, Question, Risk, SessionWord } from "./wire";

/** A question and how it ended. */
export interface Asked {
  question: Question;
  open: boolean;
  /** The yeses so far, where it takes several. */
  approved: Person[];
  /** Why it is closed, and by whom. */
  why?: string;
  by?: string;
}

/** A piece of output: text that grows, or one result. */
export type Shown =
  | { type: "text"; stream: "stdout" | "stderr"; text: string; rev: number }
  | { type: "result"; seq: number; output: Output; rev: number };

/** One piece of code and all that came of it. */
export interface Cell {
  type: "cell";
  key: string;
  rev: number;
  seq: number;
  id: string;
  origin: string;
  language: string;
  code: string;
  again?: string;
  risk?: Risk;
  capabilities: Capability[];
  decision?: string;
  rule?: string;
  asked?: Asked;
  answer?: { decision: string; by: string; reason?: string; who?: string };
  edited?: string;
  backend?: string;
  missing: string[];
  running: boolean;
  line?: number;
  shown: Shown[];
  files: FileChange[];
  network: HostContact[];
  denials: { [field: string]: unknown }[];
  finished?: { status: number | null; signal: number | null; limit: string | null; ms: number; kernelEnded: boolean };
  rewound: boolean;
}

export type Entry =
  | { type: "prompt"; key: string; rev: number; text: string; who?: string; attached: string[]; earlier?: boolean }
  | { type: "reply"; key: string; rev: number; text: string; reasoning: string; codes: string[]; finish: string; earlier?: boolean }
  | Cell
  | { type: "question"; key: string; rev: number; asked: Asked }
  | { type: "note"; key: string; rev: number; tone: "note" | "error" | "mark"; text: string; hint?: string };

/** A session. */
export interface Session {
  id: string;
  /** The last record that is in the picture. */
  after: number;
  rev: number;
  entries: Entry[];
  cells: Map<string, Cell>;
  asked: Map<string, Asked>;
  live: LiveReply | null;
  /** The last reply whose pieces are no longer wanted: it is on record. */
  closedReply: number;
  state: SessionWord;
  folder: string;
  model: string;
  title: string;
  imported: boolean;
  resumedFrom?: string;
  /** Whether the model has been given outside text: fewer things then happen without a question. */
  tainted: boolean;
  /** Messages of the session before it, until it is known that there is one. */
  earlier: { role: string; text?: string }[];
  ended: boolean;
  /** The change set in question, and what is in it. */
  changes: { id: string; state: string; files: FileChange[]; leftOut: { path: string; why: string }[] } | null;
  staged: FileChange[];
  /** Sets that were applied and not undone. */
  applied: number;
  /** Whether the next set that is staged is only what was just sent. */
  putting: boolean;
  /** The newest record about changes, by its number. */
  newest: number;
  usage: { input: number; output: number; cost: number | null; context: number | null };
  headway: string;
  attached: string[];
  /** Grows when the staged files may have changed. */
  effectsRev: number;
}

export function newSession(id: string): Session {
  return {
    id, after: 0, rev: 0, entries: [], cells: new Map(), asked: new Map(), live: null, closedReply: 0,
    state: "idle", folder: "", model: "", title: "", imported: false, ended: false, tainted: false, earlier: [], changes: null,
    staged: [], applied: 0, putting: false, newest: 0, usage: { input: 0, output: 0, cost: null, context: null }, headway: "",
    attached: [], effectsRev: 0,
  };
}

/** The questions that wait for an answer. */
export function openQuestions(session: Session): Asked[] {
  return [...session.asked.values()].filter((asked) => asked.open);
}

/** The whole picture as a value, to compare. */
export function picture(session: Session): unknown {
  const { cells: _cells, asked, ...rest } = session;
  return JSON.parse(JSON.stringify({ ...rest, asked: [...asked] }, (key, value) => (key === "rev" ? undefined : value)));
}
