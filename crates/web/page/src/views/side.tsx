//! The sidebar: new session, inbox, search, and the sessions with their state.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { current, hasMore, history, leave, more, openCount, refresh, rows, search } from "../store";
import { me, OWN, person } from "../who";
import type { Row } from "../wire";
import { count, lastPart, STATES, when } from "../words";
import { menuOpen, place } from "../place";
import { Icon, Name } from "./text";
import { ThemeButton } from "./theme";

const SERVER = [["models", "Models"], ["settings", "Settings"], ["doctor", "Doctor"], ["record", "Record"]] as const;

export function Side(): JSX.Element {
  const known = rows.value;
  const listed = history.value.map((row) => known.get(row.session) ?? row);
  const isSearch = search.value.trim() !== "";
  const seen = new Set(listed.map((row) => row.session));
  // A session that began since the list was asked for comes first.
  const fresh = isSearch ? [] : [...known.values()].filter((row) => !seen.has(row.session) && row.state !== "ended");
  const all = [...fresh, ...listed];
  const live = all.filter((row) => row.state !== "ended");
  const ended = all.filter((row) => row.state === "ended");
  return (
    <nav class={`side ${menuOpen.value ? "is-open" : ""}`} aria-label="Sessions">
      <div class="side-head">
        <a class="brand" href="#/" onClick={close}>Interpreter</a>
        <ThemeButton />
        <button type="button" class="icon-button only-narrow" aria-label="Close" onClick={close}><Icon name="close" /></button>
      </div>
      <a class={`side-link ${place.value === "home" ? "here" : ""}`} href="#/" onClick={close} aria-current={place.value === "home" ? "page" : undefined}><Icon name="plus" /> New session</a>
      <a class={`side-link ${place.value === "inbox" ? "here" : ""}`} href="#/inbox" onClick={close} aria-current={place.value === "inbox" ? "page" : undefined}>
        <Icon name="inbox" /> Questions {openCount.value > 0 && <span class="badge" data-inbox={openCount.value}>{openCount.value}<span class="sr"> open</span></span>}
      </a>
      <Search />
      <div class="side-list" tabIndex={0} role="group" aria-label="List of sessions">
        {live.length > 0 && <Group name="Live" all={live} />}
        {ended.length > 0 && <Group name={isSearch ? "Found" : "History"} all={ended} />}
        {all.length === 0 && <p class="muted side-none">{isSearch ? "Nothing was found." : "No sessions yet."}</p>}
        {hasMore.value && <button type="button" class="unfold" onClick={() => void more()}>Show more</button>}
      </div>
      <ul class="side-foot" aria-label="The server">
        {SERVER.map(([at, word]) => (
          <li key={at}><a class={`side-link ${place.value === at ? "here" : ""}`} href={`#/${at}`} onClick={close} aria-current={place.value === at ? "page" : undefined}><Icon name={at} /> {word}</a></li>
        ))}
      </ul>
      <Myself />
    </nav>
  );
}

/** Who is here, and the way out. */
function Myself(): JSX.Element {
  const own = me.value;
  const name = own === null || own.name === OWN ? "You" : own.name;
  const role = own?.team === true ? own.role ?? "operator" : null;
  return (
    <div class="myself">
      <Icon name="person" />
      <span class="myself-name"><Name text={name} most={40} />{role !== null && <span class="muted"> · {role}</span>}</span>
      <button type="button" class="quiet" data-act="logout" onClick={leave}>Log out</button>
    </div>
  );
}

function close(): void {
  menuOpen.value = false;
}

function Search(): JSX.Element {
  const [text, setText] = useState(search.peek());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <label class="search">
      <span class="sr">Search in history</span>
      <input type="search" placeholder="Search" value={text} onInput={(event) => {
        const words = event.currentTarget.value;
        setText(words);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => {
          search.value = words;
          void refresh();
        }, 200);
      }} />
    </label>
  );
}

function Group({ name, all }: { name: string; all: Row[] }): JSX.Element {
  return (
    <section>
      <h2 class="side-title">{name}</h2>
      <ul>{all.map((row) => <li key={row.session}><Item row={row} /></li>)}</ul>
    </section>
  );
}

function Item({ row }: { row: Row }): JSX.Element {
  const here = current.value === row.session;
  const state = STATES[row.state] ?? "";
  return (
    <a class={`item ${here ? "here" : ""}`} href={`#/s/${encodeURIComponent(row.session)}`} aria-current={here ? "page" : undefined} onClick={close}>
      <span class="item-title"><Name text={row.title === "" ? "New session" : row.title} most={80} /></span>
      {typeof row.excerpt === "string" && row.excerpt !== "" && <span class="item-excerpt"><Name text={row.excerpt} most={120} /></span>}
      <span class="item-about">
        {row.state !== "ended" && <span class={`state state-${row.state}`}><span class="state-dot" aria-hidden="true" />{state}</span>}
        <span class="item-folder">{row.owner !== undefined ? <>of <Name text={person(row.owner)} most={30} /></> : <Name text={lastPart(row.folder)} most={40} />}</span>
        <span class="item-time">{row.questions > 0 ? count(row.questions, "question") : when(row.time, Date.now())}</span>
      </span>
    </a>
  );
}
