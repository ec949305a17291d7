import assert from "node:assert/strict";
import { test } from "node:test";
import { takeLive, takeRecord } from "../../src/fold";
import { newSession, openQuestions, picture, type Session } from "../../src/model";
import type { Live, Record } from "../../src/wire";

let seed = 11;
function random(most: number): number {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed % most;
}

function story(): Record[] {
  const all: Record[] = [];
  const add = (kind: string, fields: object = {}, who?: string) => {
    all.push({ v: 1, seq: all.length + 1, time: "2026-01-01T00:00:00Z", session: "s", kind, ...(who === undefined ? {} : { who }), ...fields });
  };
  add("session_started", { version: "1", model: "m", confinement: { work_folder: "/w" } });
  for (let turn = 1; turn <= 5; turn += 1) {
    const proposal = `p${turn}`;
    add("prompt", { text: `Do ${turn}` }, "anna");
    add("request", { model: "m", messages: 2, newest: [] });
    add("reply", { text: `Sure.\n\n\`\`\`python\nprint(${turn})\n\`\`\``, reasoning: "", finish: "stop" });
    add("usage", { input: 10, output: 5, cost: 0.01 });
    add("proposal", { id: proposal, origin: "model", language: "python", code: `print(${turn})`, hash: "h" });
    add("findings", { proposal, risk: "low", capabilities: [] });
    add("verdict", { proposal, decision: "ask", rule: "the default" });
    add("question", { id: `q${turn}`, hash: "a".repeat(64), about: "code", proposal, language: "python", code: `print(${turn})`, risk: "low", capabilities: [] });
    add("answer", { proposal, decision: "run", by: "person" }, "ben");
    add("question_closed", { id: `q${turn}`, why: "answered" }, "ben");
    add("run_started", { proposal, hash: "h", backend: "native", enforced: [], missing: [] });
    add("output", { proposal, stream: "stdout", text: `${turn}`, mime: "text/plain" });
    add("output", { proposal, stream: "stdout", text: "\n", mime: "text/plain" });
    add("output", { proposal, stream: "result", text: "x", mime: "text/plain", display: "d" });
    add("output", { proposal, stream: "result", text: "y", mime: "text/plain", display: "d" });
    add("effects", { proposal, files: [{ path: "a.txt", change: "created" }], network: [] });
    add("run_finished", { proposal, status: 0, signal: null, limit: null, kernel_ended: false, ms: 3 });
    add("host_wanted", { proposal, host: "x.org", port: 443 });
    add("question", { id: `h${turn}`, hash: "b".repeat(64), about: "host", proposal, host: "x.org", port: 443, grants: ["once"] });
    add("question_closed", { id: `h${turn}`, why: "interrupted" });
    add("changes", { id: "c1", state: turn % 2 === 0 ? "applied" : "staged", files: [{ path: "a.txt", change: "created" }] });
    add("some_kind_of_later", { anything: true });
    add("turn_finished", { end: turn === 3 ? "interrupted" : "done" });
  }
  add("session_ended");
  return all;
}

function told(records: Record[]): Session {
  const session = newSession("s");
  for (const record of records) takeRecord(session, structuredClone(record));
  return session;
}

test("a whole session is folded", () => {
  const session = told(story());
  assert.equal(session.folder, "/w");
  assert.equal(session.title, "Do 1");
  assert.equal(session.state, "ended");
  assert.deepEqual(openQuestions(session), []);
  const cell = session.cells.get("p2");
  assert.deepEqual(cell?.asked && [cell.asked.open, cell.asked.by, cell.asked.why], [false, "ben", "answered"]);
  assert.deepEqual(cell?.shown.map((shown) => (shown.type === "text" ? shown.text : shown.output.text)), ["2\n", "y"]);
  const reply = session.entries.find((entry) => entry.type === "reply");
  assert.deepEqual(reply?.type === "reply" && reply.codes, ["print(1)"]);
});

test("what programs left running have done is named", () => {
  const session = newSession("s");
  const host = { host: "x.org", port: 443, verdict: "allowed", count: 1 };
  const late = { after: "p1", network: [host, { ...host, host: "y.org", why: "it does not answer" }, { ...host, host: "z.org", verdict: "refused" }] };
  takeRecord(session, { v: 1, seq: 1, time: "", session: "s", kind: "tried_late", ...late });
  const entry = session.entries[0];
  assert.equal(entry?.type === "note" && entry.text, "Programs left running since p1: reached x.org:443; did not reach y.org:443; refused z.org:443");
});

test("any cut and doubled stream gives the same picture", () => {
  const records = story();
  const whole = picture(told(records));
  for (let round = 0; round < 300; round += 1) {
    const session = newSession("s");
    while (session.after < records.length) {
      // A subscription from what is known, or from some earlier place, that is cut somewhere.
      const from = random(4) === 0 ? random(session.after + 1) : session.after;
      const to = Math.min(records.length, from + 1 + random(40));
      for (const record of records.slice(from, to)) {
        takeRecord(session, structuredClone(record));
        if (random(5) === 0) takeRecord(session, structuredClone(record));
        const later = records[session.after + 3];
        if (random(9) === 0 && later !== undefined) assert.equal(takeRecord(session, structuredClone(later)), "gap");
      }
    }
    assert.deepEqual(picture(session), whole);
  }
});

function pieces(): Live[] {
  const encoder = new TextEncoder();
  let offset = 0;
  const all: Live[] = [];
  const say = (live: string, text?: string) => {
    all.push({ v: 1, session: "s", live, reply: 1, offset, ...(text === undefined ? {} : { text }) });
    if (text !== undefined && !live.endsWith("begins")) offset += encoder.encode(text).length;
  };
  for (const text of ["Grüße, ", "👩‍👩‍👧 ", "say ", "this:\n"]) say("text", text);
  say("code_begins", "python");
  for (const text of ["print(", "'é'", ")\n"]) say("code", text);
  say("code_ends");
  for (const text of ["And ", "done."]) say("text", text);
  say("reply_ends");
  return all;
}

test("live pieces may repeat, be cut or come again from the start", () => {
  const all = pieces();
  const session = newSession("s");
  for (const piece of all) takeLive(session, piece);
  const whole = JSON.stringify(session.live);
  assert.deepEqual(session.live?.parts.map((part) => [part.kind, part.text]), [["text", "Grüße, 👩‍👩‍👧 say this:\n"], ["code", "print('é')\n"], ["text", "And done."]]);
  for (let round = 0; round < 300; round += 1) {
    const other = newSession("s");
    let at = 0;
    while (at < all.length) {
      if (random(6) === 0) at = random(at + 1);
      assert.notEqual(takeLive(other, all[at] as Live), "gap");
      if (random(4) === 0) takeLive(other, all[at] as Live);
      at += 1;
    }
    assert.equal(JSON.stringify(other.live), whole);
  }
});

test("a piece that is cut elsewhere than before is joined by its bytes", () => {
  const session = newSession("s");
  takeLive(session, { v: 1, session: "s", live: "text", reply: 1, offset: 0, text: "Grüß" });
  takeLive(session, { v: 1, session: "s", live: "text", reply: 1, offset: 0, text: "Grüße alle" });
  assert.equal(session.live?.parts[0]?.text, "Grüße alle");
  assert.equal(takeLive(session, { v: 1, session: "s", live: "text", reply: 1, offset: 50, text: "x" }), "gap");
});

test("the conversation of an earlier session comes first, whichever record tells it", () => {
  const base = { v: 1, time: "", session: "s" };
  const conversation = { kind: "conversation", after: 1, messages: [{ role: "user", text: "Hi" }, { role: "assistant", text: "One.", calls: [] }] };
  for (const all of [[conversation, { kind: "resumed", from: "r" }], [{ kind: "resumed", from: "r" }, conversation]]) {
    const session = newSession("s");
    all.forEach((body, at) => takeRecord(session, { ...base, seq: at + 1, ...body }));
    takeRecord(session, { ...base, seq: 3, kind: "conversation", after: 3, messages: [{ role: "user", text: "More" }] });
    assert.deepEqual(session.entries.map((entry) => entry.type), ["prompt", "reply", "note"]);
    assert.equal(session.title, "Hi");
  }
});

test("a reply on record takes the place of its pieces", () => {
  const session = newSession("s");
  takeLive(session, { v: 1, session: "s", live: "text", reply: 1, offset: 0, text: "Hi" });
  takeRecord(session, { v: 1, seq: 1, time: "", session: "s", kind: "reply", text: "Hi", reasoning: "", finish: "stop" });
  assert.equal(session.live, null);
  assert.equal(takeLive(session, { v: 1, session: "s", live: "text", reply: 1, offset: 0, text: "Hi" }), "known");
  assert.equal(session.live, null);
});
