//! Entries of a session as records make and change them: cells, questions, results, changes.
//!
//! Parts of the fold in `fold.ts`; the same rules hold.

import type { Asked, Cell, Entry, Session, Shown } from "./model";
import { openQuestions } from "./model";
import type { HostContact, Output, Person, Question, Record } from "./wire";

/** Hosts that are named. */
const NAMED = 10;

export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const list = <T>(value: unknown): T[] => (Array.isArray(value) ? (value as T[]) : []);

export function running(session: Session): Cell | undefined {
  for (let at = session.entries.length - 1; at >= 0; at -= 1) {
    const entry = session.entries[at] as Entry;
    if (entry.type === "cell" && entry.running) return entry;
    if (entry.type === "prompt") return undefined;
  }
  return undefined;
}

export function touch(session: Session, entry: { rev: number }): void {
  entry.rev += 1;
  session.rev += 1;
}

export function note(session: Session, record: Record, tone: "note" | "error" | "mark", words: string, hint?: string): void {
  const entry: Entry = { type: "note", key: `n${record.seq}`, rev: 0, tone, text: words };
  if (hint !== undefined && hint !== "") entry.hint = hint;
  session.entries.push(entry);
}

/** What programs did that code left running, in words. */
export function leftBehind(record: Record): string {
  const all = list<HostContact>(record["network"]);
  const hosts = (did: string, some: HostContact[]) => {
    const more = some.length > NAMED ? ` and ${some.length - NAMED} more` : "";
    return some.length === 0 ? [] : [`${did} ${some.slice(0, NAMED).map((one) => `${one.host}:${one.port}`).join(", ")}${more}`];
  };
  const allowed = all.filter((one) => one.verdict !== "refused");
  const secrets = list(record["secrets"]).length;
  const denials = list<{ what?: string }>(record["denials"]).filter((one) => one.what !== "host").length;
  const parts = [
    ...hosts("reached", allowed.filter((one) => one.why === undefined)),
    ...hosts("did not reach", allowed.filter((one) => one.why !== undefined)),
    ...hosts("refused", all.filter((one) => one.verdict === "refused")),
    ...(secrets > 0 ? [`uses of secrets: ${secrets}`] : []),
    ...(denials > 0 ? [`refused by the sandbox: ${denials}`] : []),
  ];
  const since = typeof record["after"] === "string" ? ` since ${record["after"]}` : "";
  return `Programs left running${since}: ${parts.join("; ")}`;
}

export function propose(session: Session, record: Record): void {
  const id = text(record["id"]);
  const cell: Cell = {
    type: "cell", key: `c${record.seq}`, rev: 0, seq: record.seq, id, origin: text(record["origin"]),
    language: text(record["language"]), code: text(record["code"]), capabilities: [], missing: [],
    running: false, shown: [], files: [], network: [], denials: [], rewound: false,
  };
  if (typeof record["again"] === "string") cell.again = record["again"];
  if (session.title === "") session.title = cell.code.split("\n", 1)[0] ?? "";
  session.cells.set(id, cell);
  session.entries.push(cell);
  if (cell.origin !== "model") return;
  // The code stands in the reply as well; it is shown once.
  for (let at = session.entries.length - 1; at >= 0; at -= 1) {
    const entry = session.entries[at] as Entry;
    if (entry.type === "reply") {
      entry.codes.push(cell.code);
      return touch(session, entry);
    }
    if (entry.type === "prompt") return;
  }
}

export function ask(session: Session, record: Record): void {
  const { v: _v, seq: _seq, time: _time, session: _session, who: _who, kind: _kind, ...rest } = record;
  const question = rest as unknown as Question;
  const asked: Asked = { question, open: true, approved: [] };
  session.asked.set(question.id, asked);
  session.state = "asking";
  const cell = question.about === "code" ? session.cells.get(question.proposal ?? "") : undefined;
  if (cell !== undefined) {
    cell.asked = asked;
    touch(session, cell);
  } else {
    session.entries.push({ type: "question", key: `q${record.seq}`, rev: 0, asked });
  }
}

export function close(session: Session, record: Record): void {
  const asked = session.asked.get(text(record["id"]));
  if (asked === undefined || !asked.open) return;
  asked.open = false;
  asked.why = text(record["why"]);
  const by = record.who ?? text(record["by"]);
  if (by !== "") asked.by = by;
  if (session.state === "asking" && openQuestions(session).length === 0) {
    session.state = running(session) === undefined ? "thinking" : "running";
  }
  touchAsked(session, asked);
}

/** A yes is there, or counts no more. */
export function approve(session: Session, record: Record): void {
  const asked = session.asked.get(text(record["question"]));
  const person = record["person"] as Person | undefined;
  if (asked === undefined || !asked.open || typeof person?.id !== "string" || typeof person.name !== "string") return;
  asked.approved = asked.approved.filter((one) => one.id !== person.id);
  if (record.kind === "approval") asked.approved.push(person);
  touchAsked(session, asked);
}

function touchAsked(session: Session, asked: Asked): void {
  const cell = session.cells.get(asked.question.proposal ?? "");
  if (cell?.asked === asked) touch(session, cell);
  else {
    // Questions are closed soon after they are put, so it is among the newest.
    for (let at = session.entries.length - 1; at >= 0; at -= 1) {
      const entry = session.entries[at] as Entry;
      if (entry.type === "question" && entry.asked === asked) return touch(session, entry);
    }
  }
}

export function show(cell: Cell, record: Record): void {
  const output = record as unknown as Output;
  if (output.stream === "result" || output.mime !== "text/plain") {
    const shown: Shown = { type: "result", seq: record.seq, output, rev: 0 };
    const at = output.display === undefined ? -1 : cell.shown.findIndex(
      (one) => one.type === "result" && one.output.display === output.display,
    );
    if (at < 0) cell.shown.push(shown);
    else cell.shown[at] = shown;
    return;
  }
  const last = cell.shown[cell.shown.length - 1];
  if (last?.type === "text" && last.stream === output.stream && output.kept === undefined) {
    last.text += output.text;
    last.rev += 1;
  } else if (output.kept !== undefined && output.text === "") {
    cell.shown.push({ type: "result", seq: record.seq, output, rev: 0 });
  } else {
    cell.shown.push({ type: "text", stream: output.stream, text: output.text, rev: 0 });
  }
}

const STATES: { [state: string]: string } = {
  applied: "applied to your folder", discarded: "discarded", undone: "undone",
};

export function changed(session: Session, record: Record): void {
  const changes = session.changes;
  if (changes === null) return;
  if (changes.state === "applied") session.applied += 1;
  if (changes.state === "undone") session.applied = Math.max(0, session.applied - 1);
  if (changes.state !== "staged") {
    const words = STATES[changes.state] ?? changes.state;
    const count = changes.files.length;
    note(session, record, "mark", `${count === 1 ? "1 file" : `${count} files`} ${words}.`);
    // Of a file whose hunks were chosen, the rest stays staged.
    const gone = new Set(changes.files.filter((file) => file.hunks === undefined).map((file) => file.path));
    if (changes.state !== "undone") session.staged = session.staged.filter((file) => !gone.has(file.path));
    // What was undone is staged once more.
    else session.staged = [...session.staged.filter((file) => !gone.has(file.path)), ...changes.files];
  } else {
    const sent = new Set(session.putting ? changes.files.map((file) => file.path) : []);
    session.staged = session.putting ? [...session.staged.filter((file) => !sent.has(file.path)), ...changes.files] : changes.files;
    session.putting = false;
  }
}

/** The messages of the session that this one goes on from. */
export function earlier(session: Session, record: Record): void {
  session.earlier.splice(0).forEach((message, at) => {
    const key = `e${record.seq}.${at}`;
    if (message.role === "user") {
      session.entries.push({ type: "prompt", key, rev: 0, text: text(message.text), attached: [], earlier: true });
      if (session.title === "") session.title = text(message.text).split("\n", 1)[0] ?? "";
    } else if (message.role === "assistant") {
      session.entries.push({ type: "reply", key, rev: 0, text: text(message.text), reasoning: "", codes: [], finish: "stop", earlier: true });
    } else if (message.role === "result") {
      session.entries.push({ type: "note", key, rev: 0, tone: "note", text: text(message.text) });
    }
  });
  const last = session.entries[session.entries.length - 1];
  if (last !== undefined && last.key.startsWith("e")) note(session, record, "mark", "The conversation goes on from here.");
}
