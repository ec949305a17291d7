import assert from "node:assert/strict";
import { test } from "node:test";
import { takeRecord } from "../../src/fold";
import { newSession } from "../../src/model";
import type { Record } from "../../src/wire";
import { approvals, whyNot } from "../../src/words";

const [anna, ben, cleo] = [{ id: "a", name: "anna" }, { id: "b", name: "ben" }, { id: "c", name: "anna" }];
const quorum = { answers: 2, not_author: true, authors: [anna] };

function record(seq: number, kind: string, fields: object): Record {
  return { v: 1, seq, time: "2026-01-01T00:00:00Z", session: "s", kind, ...fields };
}

test("a question counts its approvals by person, and loses those that are withdrawn", () => {
  const session = newSession("s");
  const question = { id: "q1", hash: "a".repeat(64), about: "code", proposal: "p1", quorum };
  takeRecord(session, record(1, "session_started", { version: "1", confinement: { work_folder: "/w" } }));
  takeRecord(session, record(2, "proposal", { id: "p1", origin: "person", language: "python", code: "1", hash: "h" }));
  takeRecord(session, record(3, "question", question));
  const asked = session.asked.get("q1");
  assert.ok(asked);
  const rev = session.cells.get("p1")?.rev ?? 0;
  takeRecord(session, record(4, "approval", { question: "q1", person: ben, missing: 1 }));
  assert.equal(approvals(quorum, asked.approved), "1 of 2 approvals: ben");
  assert.ok((session.cells.get("p1")?.rev ?? 0) > rev);
  takeRecord(session, record(5, "approval_withdrawn", { question: "q1", person: ben }));
  assert.equal(approvals(quorum, asked.approved), "0 of 2 approvals so far");
  // A record of no person, or of another question, changes nothing.
  takeRecord(session, record(6, "approval", { question: "q1", person: "ben", missing: 1 }));
  takeRecord(session, record(7, "approval", { question: "q2", person: ben, missing: 1 }));
  assert.deepEqual(asked.approved, []);
  takeRecord(session, record(8, "question_closed", { id: "q1", why: "answered" }));
  takeRecord(session, record(9, "approval", { question: "q1", person: ben, missing: 0 }));
  assert.deepEqual(asked.approved, []);
});

test("who wrote it, or has approved it, is told so; whoever is only called so is not", () => {
  assert.match(whyNot(quorum, [], anna.id), /wrote or prompted/);
  assert.equal(whyNot(quorum, [], cleo.id), "");
  assert.match(whyNot(quorum, [ben], ben.id), /waits for others/);
  assert.equal(whyNot({ ...quorum, not_author: false }, [], anna.id), "");
  assert.equal(whyNot(undefined, [], anna.id), "");
  assert.equal(whyNot(quorum, [], ""), "");
});
