//! Everything that a session does without a question, and how to take it back.

import type { JSX } from "preact";
import { aside } from "../place";
import { rows } from "../store";
import { may, type RightWord } from "../who";
import { spanWords } from "../words";
import { Dialog, useGrants } from "./dialog";
import { Foreign, Name } from "./text";

interface Standing {
  number: number;
  words: string;
  span: string;
}

export function GrantsButton(): JSX.Element {
  return <button type="button" data-act="grants" onClick={() => aside.value = "grants"}>Allowed without asking…</button>;
}

export function Granted({ session }: { session: string }): JSX.Element | null {
  return aside.value === "grants" ? <List key={session} session={session} /> : null;
}

function List({ session }: { session: string }): JSX.Element {
  const { all, failure, busy, grant } = useGrants(session);
  const standing = Array.isArray(all?.["standing"]) ? all["standing"] as Standing[] : [];
  const hosts = Array.isArray(all?.["hosts"]) ? all["hosts"] as string[] : [];
  const row = rows.value.get(session);
  const back = (right: RightWord, what: string, fields: { [field: string]: unknown }) =>
    may(right, row) && <button type="button" class="danger" data-act="take-back" disabled={busy} aria-label={`Take back: ${what}`} onClick={() => void grant(fields)}>Take back</button>;
  return (
    <Dialog name="grants" title="Allowed without asking" failure={failure}>
      <p class="muted">Your answers for more than one run. A rule that denies still wins. Whatever you allowed for good is also in your settings, and stays there.</p>
      {all !== null && (
        <ul class="granted" aria-label="Allowed without asking">
          {standing.length + hosts.length === 0 && <li class="muted">Nothing: you are asked each time.</li>}
          {standing.map(({ number, words, span }) => (
            <li key={`s${number}`} data-standing={number}>
              <span class="granted-name"><Foreign text={words} />, {spanWords(span)}</span>
              {back("admin", `answer ${number}`, { revoke: number })}
            </li>
          ))}
          {hosts.map((place) => (
            <li key={`h${place}`} data-host={place}>
              <span class="granted-name">reach <Name text={place} most={80} /></span>
              {back("answer", place, { close: place })}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
