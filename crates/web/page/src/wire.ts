//! The shapes of protocol v1 as the page reads them: records, live pieces, rows and replies.
//!
//! Fields may be added within a version, so everything that is not needed is left out here, and
//! whatever is unknown is ignored. Types only.

/** Any record; `kind` says what else it has. */
export interface Record {
  v: number;
  seq: number;
  time: string;
  session: string;
  who?: string;
  kind: string;
  [field: string]: unknown;
}

/** A piece of a reply that is still being written, or of a run. */
export interface Live {
  v: number;
  session: string;
  live: string;
  reply?: number;
  offset?: number;
  text?: string;
  line?: number;
  [field: string]: unknown;
}

export type SessionWord = "idle" | "thinking" | "asking" | "running" | "ended";

/** A session in the list. */
export interface Row {
  session: string;
  title: string;
  folder: string | null;
  excerpt?: string;
  model?: string | null;
  state: SessionWord;
  time: string;
  questions: number;
  seq: number;
  /** Of a session that somebody shares with the person: whose it is, and as what. */
  owner?: string;
  shared?: string;
}

export type Risk = "low" | "medium" | "unknown" | "high";

export interface Capability {
  name: string;
  argument: string;
  line: number;
  columns?: [number, number];
  severity: Risk;
  confidence?: string;
  reason?: string;
  sources?: string[];
}

export interface FileChange {
  path: string;
  change: "created" | "changed" | "deleted" | "renamed";
  from?: string;
  mode?: { from?: string; to?: string };
  target?: { from?: string; to?: string };
  holds?: string;
  bytes?: number;
  runs_later?: string;
  executable?: boolean;
  hunks?: { numbers: number[]; of: number };
}

export interface HostContact {
  host: string;
  port: number;
  verdict: string;
  why?: string;
  count?: number;
}

export interface ReplayCell {
  proposal: string;
  cell: string;
  language: string;
  code: string;
  risk?: Risk;
  capabilities?: Capability[];
}

/** Somebody of a team. */
export interface Person {
  id: string;
  name: string;
}

/** Who must approve, where one yes is not enough or not everybody's counts. */
export interface Quorum {
  answers: number;
  not_author: boolean;
  authors: Person[];
}

/** A question to a person. Which fields there are depends on `about`. */
export interface Question {
  id: string;
  hash: string;
  about: string;
  proposal?: string;
  language?: string;
  code?: string;
  risk?: Risk;
  capabilities?: Capability[];
  decision?: string;
  rule?: string;
  masked?: string[];
  may_stand?: boolean;
  may_last?: boolean;
  code_kind?: { does: string[]; starts: string[]; words: string };
  lasting_rule?: string;
  confinement?: string[] | string;
  edited?: boolean;
  quorum?: Quorum;
  prompt?: string;
  secret?: boolean;
  host?: string;
  port?: number;
  grants?: string[];
  source?: string;
  change?: string;
  packages?: string[];
  list?: PackageList;
  build?: boolean;
  runs_again?: boolean;
  cells?: ReplayCell[];
  left_out?: { cell?: string; path?: string; why: string; masked?: string[] }[];
  changes?: string;
  files?: FileChange[];
  outline?: Outline;
  [field: string]: unknown;
}

/** Everything that comes and goes by an order for packages. */
export interface PackageList {
  comes: { name: string; version: string; hash: string; required_by?: string; replaces?: string }[];
  goes?: { name: string; version: string }[];
}

/** A question of any session, as the list has it. */
export interface InboxQuestion extends Question {
  session: string;
}

export interface Output {
  proposal: string;
  stream: "stdout" | "stderr" | "result";
  text: string;
  mime: string;
  bundle?: { [mime: string]: string };
  display?: string;
  kept?: { hash: string; bytes: number; characters?: number };
}

/** One hunk of a staged change. */
export interface Hunk {
  number: number;
  lines: string[];
}

export interface ShownFile extends FileChange {
  head?: string;
  shown: Hunk[];
}

/** A change that is not applied with the others; with its lines if a value is masked in it. */
export interface ShownLeftOut {
  path: string;
  why: string;
  masked?: string[];
  head?: string;
  shown: Hunk[];
}

export interface Shown {
  id: string;
  files: ShownFile[];
  leftOut: ShownLeftOut[];
  outline?: Outline;
}

/** What is shown of many changes before all of them are applied. */
export interface Outline {
  /** An answer for all of the changes names the outline by it. */
  hash: string;
  named: { path: string; why: string }[];
  counted: { files: number; change: string; folder: string; from?: string; ending?: string }[];
}

export interface Failure {
  code: string;
  message: string;
  hint?: string;
  by?: string;
}

/** A setting in force. */
export interface Setting {
  name: string;
  value: unknown;
  origin: { layer: string; file?: string | null; line?: number | null };
  default: unknown;
  meaning: string;
  option?: string | null;
  variable?: string | null;
}

/** Something that the doctor looked at. */
export interface Finding {
  name: string;
  state: "good" | "lacking" | "broken";
  detail: string;
  fix?: string | null;
}

export interface Examined {
  ready: boolean;
  verdict: string;
  problems: Finding[];
  rows: Finding[];
}

/** An examination of the whole record. */
export interface Verified {
  whole: boolean;
  records: number;
  sessions: number;
  breaks: { session: string; seq: number; why: string }[];
  accepted: { session: string; why: string }[];
  removed: number;
  missing?: string | null;
  state?: string | null;
  outputs: { whole: number; pruned: number; altered: { session: string; seq: number }[]; removed: { session: string; seq: number }[] };
  anchor?: { holds: boolean; records: number; sessions: number; removed: number; faults: string[] } | null;
}

/** An embedded model, and how much of it is here. */
export interface Weights {
  name: string;
  title: string;
  role: string;
  bytes: number;
  licence?: string;
  here: boolean;
  part?: number | null;
}

/** A provider of models. */
export interface Provider {
  name: string;
  title: string;
  local: boolean;
  ready: boolean;
  models: string[];
  missing?: string;
}
