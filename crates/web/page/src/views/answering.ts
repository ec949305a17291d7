//! Sends the answer to a question, with the hash of what was shown.

import { useState } from "preact/hooks";
import { RequestFailed } from "../connection";
import { current, request } from "../store";
import type { Question } from "../wire";
import { oneLine } from "../foreign";
import { person } from "../who";

export interface Answering {
  /** Whether an answer is under way. */
  sending: boolean;
  /** Why the last one did not count. */
  problem: string;
  send(answer: { [field: string]: unknown }): void;
}

export function useAnswer(session: string, question: Question): Answering {
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState("");
  const send = (answer: { [field: string]: unknown }) => {
    if (sending) return;
    setSending(true);
    setProblem("");
    request("answer", { session, question: question.id, hash: question.hash, ...answer })
      .then((ok) => {
        // The session had ended, and another one goes on with it.
        if (typeof ok["session"] === "string" && current.peek() === session) location.hash = `#/s/${encodeURIComponent(ok["session"])}`;
      })
      .catch((failed: unknown) => setProblem(words(failed)))
      .finally(() => setSending(false));
  };
  return { sending, problem, send };
}

function words(failed: unknown): string {
  if (!(failed instanceof RequestFailed)) return "The answer could not be sent.";
  const { code, message, hint, by } = failed.failure;
  if (code === "closed") return `This question was already answered${by === undefined ? "" : ` by ${person(by)}`}.`;
  if (code === "another_hash") return "The question has changed since it was shown. Please read it again.";
  return oneLine(hint === undefined ? message : `${message} – ${hint}`, 400);
}
