//! Where a session begins, and the questions of all sessions.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { enter, history, inbox, rows } from "../store";
import type { InboxQuestion } from "../wire";
import { ask, lastPart, RISKS } from "../words";
import { oneLine } from "../foreign";
import { Icon, Name, Tag } from "./text";
import { Top } from "./top";

const FOLDER = "interpreter.folder";

function lastFolder(): string {
  try {
    return localStorage.getItem(FOLDER) ?? "";
  } catch {
    return "";
  }
}

export function Home(): JSX.Element {
  const [folder, setFolder] = useState(lastFolder());
  const [busy, setBusy] = useState(false);
  const known = [...new Set(history.value.map((row) => row.folder ?? ""))].filter((one) => one !== "").slice(0, 8);
  const open = async () => {
    setBusy(true);
    const ok = await enter("open", folder.trim() === "" ? {} : { folder: folder.trim() });
    setBusy(false);
    if (!ok) return;
    try {
      localStorage.setItem(FOLDER, folder.trim());
    } catch {
      // The folder is then typed again next time.
    }
  };
  return (
    <div class="talk">
      <Top title="New session" />
      <div class="entries" tabIndex={0} role="group" aria-label="New session">
        <form class="column home" onSubmit={(event) => {
          event.preventDefault();
          void open();
        }}>
          <h2>Where shall we work?</h2>
          <p class="muted">Code sees this folder. What it changes there is staged, and you decide what lands.</p>
          <label class="field">
            <span>Folder</span>
            <input class="mono" type="text" value={folder} placeholder="The folder that the server was started in" autocomplete="off" spellcheck={false} data-field="folder"
              onInput={(event) => setFolder(event.currentTarget.value)} />
          </label>
          {known.length > 0 && (
            <ul class="known" aria-label="Folders of earlier sessions">
              {known.map((one) => <li key={one}><button type="button" class="chip" aria-pressed={one === folder} onClick={() => setFolder(one)}><Icon name="folder" /> <Name text={one} most={60} /></button></li>)}
            </ul>
          )}
          <div class="acts"><button type="submit" class="primary" data-act="open" disabled={busy}>Begin</button></div>
        </form>
      </div>
    </div>
  );
}

export function Inbox(): JSX.Element {
  const all = inbox.value;
  return (
    <div class="talk">
      <Top title="Questions" />
      <div class="entries" tabIndex={0} role="group" aria-label="Questions">
        <div class="column">
          {all.length === 0 && <p class="muted inbox-none">No question is open. When code wants to run, in any session, it waits here.</p>}
          <ul class="inbox">{all.map((one) => <li key={`${one.session} ${one.id}`}><Waiting one={one} /></li>)}</ul>
        </div>
      </div>
    </div>
  );
}

function Waiting({ one }: { one: InboxQuestion }): JSX.Element {
  const row = rows.value.get(one.session);
  const first = (one.code ?? "").split("\n").find((line) => line.trim() !== "") ?? "";
  return (
    <a class="waiting" href={`#/s/${encodeURIComponent(one.session)}`}>
      <span class="waiting-ask">{ask(one)} {one.risk !== undefined && RISKS[one.risk] !== undefined && <Tag tone={one.risk}>{RISKS[one.risk].word}</Tag>}</span>
      {first !== "" && <code class="waiting-code">{oneLine(first, 120)}</code>}
      <span class="muted">{row === undefined ? "" : <><Name text={row.title === "" ? "New session" : row.title} most={80} /> · <Name text={lastPart(row.folder)} most={40} /></>}</span>
    </a>
  );
}
