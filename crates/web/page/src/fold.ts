//! The fold over a session's records and live pieces.
//!
//! The same records give the same picture, however the stream was cut, repeated or resumed. No
//! element, no clock, no connection.

import { approve, ask, changed, close, earlier, leftBehind, list, note, propose, running, show, text, touch } from "./entries";
import { noReply, takePiece } from "./live";
import type { Entry, Session } from "./model";
import type { Live, Record, Risk } from "./wire";
import { size, spanWords } from "./words";

/** What became of a record or a piece: it counted, it was known, or something before it is missing. */
export type Taken = "new" | "known" | "gap";

/** Takes a record in. */
export function takeRecord(session: Session, record: Record): Taken {
  if (record.session !== session.id || record.seq <= session.after) return "known";
  if (record.seq > session.after + 1) return "gap";
  session.after = record.seq;
  session.rev += 1;
  fold(session, record);
  return "new";
}

/** Takes a live piece in. */
export function takeLive(session: Session, piece: Live): Taken {
  if (piece.session !== session.id) return "known";
  if (piece.live === "line") {
    const cell = running(session);
    const line = typeof piece.line === "number" ? piece.line : Number(piece.text);
    if (cell === undefined || !Number.isFinite(line)) return "known";
    cell.line = line;
    touch(session, cell);
    return "new";
  }
  if (piece.live === "headway") {
    session.headway = text(piece.text);
    session.rev += 1;
    return "new";
  }
  const number = piece.reply ?? session.closedReply + 1;
  if (number <= session.closedReply) return "known";
  if (session.live !== null && number < session.live.number) return "known";
  if (session.live === null || number > session.live.number) session.live = noReply(number);
  const before = session.live.bytes + session.live.marks.length;
  if (!takePiece(session.live, piece)) return "gap";
  if (session.live.bytes + session.live.marks.length === before) return "known";
  session.headway = "";
  session.rev += 1;
  return "new";
}

function endLive(session: Session): void {
  if (session.live !== null) session.closedReply = session.live.number;
  session.live = null;
}

const ENDS: { [end: string]: string } = {
  interrupted: "Interrupted.",
  too_many_calls: "The turn used up its calls to the model. Say “continue” to go on.",
  timed_out: "The turn used up its time.",
  over_budget: "The budget is used up.",
  cannot_confine: "No sandbox could be had, so nothing ran.",
  model_failed: "The model could not answer.",
};

const OUTSIDE: { [source: string]: string } = {
  piped: "piped data",
  file: "a file",
  output: "output of code that has read something",
  network: "output of code that has reached a host",
  earlier: "an earlier session",
};

function fold(session: Session, record: Record): void {
  const cell = session.cells.get(text(record["proposal"]));
  switch (record.kind) {
    case "session_started": {
      const confinement = (record["confinement"] ?? {}) as { work_folder?: string };
      session.folder = text(confinement.work_folder);
      session.model = text(record["model"]);
      session.imported = record["imported"] === true;
      return;
    }
    case "resumed":
      session.resumedFrom = text(record["from"]);
      earlier(session, record);
      return;
    case "conversation":
      // Of a session that goes on from another one, the conversation so far.
      if (session.entries.length === 0) session.earlier = [...list<{ role: string; text?: string }>(record["messages"])];
      if (session.resumedFrom !== undefined) earlier(session, record);
      return;
    case "model_changed":
      session.model = text(record["model"]);
      return note(session, record, "mark", `The model is now ${session.model}.`);
    case "prompt": {
      const entry: Entry = { type: "prompt", key: `r${record.seq}`, rev: 0, text: text(record["text"]), attached: session.attached };
      if (record.who !== undefined) entry.who = record.who;
      session.attached = [];
      session.entries.push(entry);
      if (session.title === "") session.title = entry.text.split("\n", 1)[0] ?? "";
      session.state = "thinking";
      return;
    }
    case "image": case "file": case "file_header":
      session.attached = [...session.attached, text(record["name"])];
      return;
    case "piped":
      session.attached = [...session.attached, "standard input"];
      return;
    case "request":
      session.state = "thinking";
      return;
    case "reply":
      endLive(session);
      session.headway = "";
      session.entries.push({
        type: "reply", key: `r${record.seq}`, rev: 0, text: text(record["text"]),
        reasoning: text(record["reasoning"]), codes: [], finish: text(record["finish"]),
      });
      return;
    case "outside_text":
      session.tainted = true;
      return note(session, record, "mark", `The model was given outside text: ${OUTSIDE[text(record["source"])] ?? "something from outside"}. Approvals in advance no longer cover code that starts programs, reaches the network, or writes where nothing is staged.`);
    case "usage": {
      const { usage } = session;
      usage.input += Number(record["input"] ?? 0);
      usage.output += Number(record["output"] ?? 0);
      if (typeof record["cost"] === "number") usage.cost = (usage.cost ?? 0) + record["cost"];
      return;
    }
    case "proposal": return propose(session, record);
    case "findings":
      if (cell !== undefined) {
        cell.risk = record["risk"] as Risk;
        cell.capabilities = list(record["capabilities"]);
        touch(session, cell);
      }
      return;
    case "verdict":
      if (cell !== undefined) {
        cell.decision = text(record["decision"]);
        cell.rule = text(record["rule"]);
        touch(session, cell);
      }
      return;
    case "question": return ask(session, record);
    case "question_closed": return close(session, record);
    case "approval":
    case "approval_withdrawn": return approve(session, record);
    case "answer":
      if (cell !== undefined) {
        cell.answer = { decision: text(record["decision"]), by: text(record["by"]) };
        if (typeof record["reason"] === "string") cell.answer.reason = record["reason"];
        if (record.who !== undefined) cell.answer.who = record.who;
        if (typeof record["code"] === "string") cell.edited = record["code"];
        touch(session, cell);
      }
      return;
    case "run_started":
      session.state = "running";
      if (cell !== undefined) {
        cell.running = true;
        cell.backend = text(record["backend"]);
        cell.missing = list(record["missing"]);
        touch(session, cell);
      }
      return;
    case "output":
      if (cell !== undefined) {
        show(cell, record);
        touch(session, cell);
      }
      return;
    case "effects":
      session.staged = list(record["files"]);
      session.effectsRev += 1;
      if (cell !== undefined) {
        cell.files = list(record["files"]);
        cell.network = list(record["network"]);
        cell.denials = list(record["denials"]);
        touch(session, cell);
      }
      return;
    case "tried_late":
      return note(session, record, "mark", leftBehind(record));
    case "run_finished":
      session.state = "thinking";
      if (cell !== undefined) {
        cell.running = false;
        delete cell.line;
        cell.finished = {
          status: (record["status"] ?? null) as number | null,
          signal: (record["signal"] ?? null) as number | null,
          limit: (record["limit"] ?? null) as string | null,
          ms: Number(record["ms"] ?? 0),
          kernelEnded: record["kernel_ended"] === true,
        };
        touch(session, cell);
      }
      return;
    case "changes":
      session.changes = {
        id: text(record["id"]), state: text(record["state"]), files: list(record["files"]),
        leftOut: list(record["left_out"]),
      };
      session.newest = record.seq;
      session.effectsRev += 1;
      return changed(session, record);
    case "changes_wanted":
      if (record["wish"] !== "put") return;
      session.putting = true;
      return note(session, record, "mark", `${list<string>(record["paths"]).join(", ")} was sent (${size(Number(record["bytes"] ?? 0))}). It is staged.`);
    case "replay":
      return note(session, record, "mark", "Earlier code runs again to rebuild the interpreters.");
    case "restarted": {
      const languages = list<string>(record["languages"]);
      const all = languages.length === 0 ? "All interpreters were" : `${languages.join(", ")} was`;
      return note(session, record, "mark", `${all} restarted.`);
    }
    case "rewound": {
      const gone = new Set(list<string>(record["cells"]));
      for (const id of gone) {
        const one = session.cells.get(id);
        if (one !== undefined) {
          one.rewound = true;
          touch(session, one);
        }
      }
      return note(session, record, "mark", `Went back to before ${text(record["to"])}.`);
    }
    case "not_proposed":
      return note(session, record, "note", `A block of code was not taken up: ${text(record["reason"])}`);
    case "packages_changed": {
      const names = list<{ name: string; version: string }>(record["installed"]).map((one) => `${one.name} ${one.version}`);
      const gone = list<{ name: string }>(record["removed"]).map((one) => one.name);
      if (names.length > 0) note(session, record, "mark", `Installed ${names.join(", ")}.`);
      else if (gone.length > 0) note(session, record, "mark", `Removed ${gone.join(", ")}.`);
      return;
    }
    case "packages_failed":
      return note(session, record, "error", `The packages could not be changed: ${text(record["reason"])}`);
    case "host_granted":
      return note(session, record, "mark", `${text(record["host"])}:${Number(record["port"])} may be reached (${text(record["for"])}).`);
    case "host_revoked":
      return note(session, record, "mark", `${text(record["host"])}:${Number(record["port"])} may no longer be reached.`);
    case "host_refused":
      return note(session, record, "mark", `${text(record["host"])}:${Number(record["port"])} stays out of reach.`);
    case "standing_given":
      return note(session, record, "mark", `Standing answer ${Number(record["number"])} holds ${spanWords(text(record["span"]))}.`);
    case "standing_revoked":
      return note(session, record, "mark", `Standing answer ${Number(record["number"])} holds no more.`);
    case "time_up":
      return note(session, record, "error", `The turn has used up its ${Number(record["seconds"])} seconds.`);
    case "error":
      endLive(session);
      return note(session, record, "error", text(record["message"]), text(record["hint"]));
    case "note":
      return note(session, record, "note", text(record["text"]));
    case "turn_finished": {
      session.state = "idle";
      endLive(session);
      session.headway = "";
      const words = ENDS[text(record["end"])];
      if (words !== undefined) note(session, record, "mark", words);
      return;
    }
    case "session_ended":
      session.ended = true;
      endLive(session);
      session.state = "ended";
      return;
    default:
      return;
  }
}
