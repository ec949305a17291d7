//! The people of a session: who sees it, and as what. Only in a team, and only for its owner.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { aside } from "../place";
import { me } from "../who";
import { Dialog, useGrants } from "./dialog";
import { Name } from "./text";

interface Share {
  with: string;
  as: string;
}

const KINDS = [["watch", "Watch", "see everything"], ["suggest", "Suggest", "also send prompts"], ["drive", "Drive", "also answer, run code and decide on changes"]] as const;

export function ShareButton(): JSX.Element | null {
  if (me.value?.team !== true || !me.value.rights.includes("prompt")) return null;
  return <button type="button" data-act="share" onClick={() => aside.value = "sharing"}>Share this session…</button>;
}

export function Sharing({ session }: { session: string }): JSX.Element | null {
  return aside.value === "sharing" ? <People key={session} session={session} /> : null;
}

function People({ session }: { session: string }): JSX.Element {
  const { all, failure, busy, grant } = useGrants(session);
  const shares = Array.isArray(all?.["shares"]) ? all["shares"] as Share[] : [];
  return (
    <Dialog name="sharing" title="Share this session" failure={failure}>
      <p class="muted">Nobody can do more than their role allows. Everything that they do is recorded under their name.</p>
      {all !== null && (
        <ul class="granted" aria-label="Shared with">
          {shares.length === 0 && <li class="muted">Nobody else sees it.</li>}
          {shares.map((share) => (
            <li key={share.with} data-share={share.with}>
              <span class="granted-name"><Name text={share.with} most={40} /></span>
              <Kind value={share.as} label={`${share.with} may`} disabled={busy} onChoose={(kind) => void grant({ share: { with: share.with, as: kind } })} />
              <button type="button" class="danger" data-act="unshare" disabled={busy} onClick={() => void grant({ unshare: share.with })}>Remove</button>
            </li>
          ))}
        </ul>
      )}
      <AddForm busy={busy} onAdd={(share) => grant({ share })} />
    </Dialog>
  );
}

function AddForm({ busy, onAdd }: { busy: boolean; onAdd: (share: Share) => Promise<boolean> }): JSX.Element {
  const [name, setName] = useState("");
  const [kind, setKind] = useState("watch");
  return (
    <form class="share-form" onSubmit={(event) => {
      event.preventDefault();
      void onAdd({ with: name.trim(), as: kind }).then((isShared) => {
        if (isShared) setName("");
      });
    }}>
      <label class="field"><span>Name</span><input type="text" value={name} data-field="share-name" autocomplete="off" autocapitalize="none" spellcheck={false} maxLength={40} onInput={(event) => setName(event.currentTarget.value)} /></label>
      <Kind value={kind} label="They may" disabled={busy} onChoose={setKind} />
      <button type="submit" class="primary" data-act="share-add" disabled={busy || name.trim() === ""}>Share</button>
    </form>
  );
}

function Kind({ value, label, disabled, onChoose }: { value: string; label: string; disabled: boolean; onChoose: (kind: string) => void }): JSX.Element {
  return (
    <select aria-label={label} value={value} disabled={disabled} onChange={(event) => onChoose(event.currentTarget.value)}>
      {KINDS.map(([kind, word, words]) => <option key={kind} value={kind} title={words}>{word}</option>)}
    </select>
  );
}
