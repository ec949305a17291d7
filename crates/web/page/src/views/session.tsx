//! A session: its head, its conversation, and the place to write.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { LiveReply } from "../live";
import { type Entry, openQuestions, type Session } from "../model";
import { menuOpen, showChanges } from "../place";
import { attempt, enter, inbox, picture, rows, standing } from "../store";
import { drives, isMe, may, person } from "../who";
import { count, languageName, lastPart, STATES } from "../words";
import { CellView } from "./cell";
import { ChangesPane } from "./changes";
import { CodeLines } from "./code";
import { Menu } from "./menu";
import { memo } from "./memo";
import { Composer } from "./composer";
import { GrowingProse, Prose } from "./prose";
import { QuestionCard } from "./questions";
import { Granted, GrantsButton } from "./grants";
import { ShareButton, Sharing } from "./sharing";
import { SwitchButton, Switching } from "./switching";
import { Foreign, Icon, Name, Tag } from "./text";
import { useDropping } from "./uploads";

/** Entries that are drawn at first, and with each wish for more. */
const FIRST = 60;
const MORE = 200;

export function SessionView(): JSX.Element {
  const seen = picture.value;
  return seen === null ? <div class="empty" /> : <Whole session={seen.session} rev={seen.rev} />;
}

function Whole({ session, rev }: { session: Session; rev: number }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const staged = session.staged.length;
  // A session that was killed has no record of its end; the list knows.
  const ended = session.ended || rows.value.get(session.id)?.state === "ended";
  const row = rows.value.get(session.id);
  const dropping = useDropping(box, session.id, !ended && may("change", row));
  return (
    <div ref={box} class={`session ${showChanges.value ? "with-changes" : ""}`} {...dropping.handlers}>
      <div class="talk">
        <Head session={session} rev={rev} ended={ended} staged={staged} />
        <Entries key={session.id} session={session} rev={rev} ended={ended} />
        {ended ? <Over session={session} /> : <Composer session={session} />}
      </div>
      {showChanges.value && <ChangesPane session={session} rev={rev} ended={ended} />}
      {dropping.isOver && <div class="drop" aria-hidden="true"><p>Drop files here. They are staged in <Name text={lastPart(session.folder)} most={40} />.</p></div>}
      <Sharing session={session.id} />
      <Granted session={session.id} />
      <Switching session={session} />
    </div>
  );
}

function Head({ session, ended, staged }: { session: Session; rev: number; ended: boolean; staged: number }): JSX.Element {
  const row = rows.value.get(session.id);
  const own = row?.owner === undefined;
  const idle = !ended && session.state === "idle" && drives(row) && may("prompt", row);
  const busy = !ended && (session.state === "thinking" || session.state === "running" || session.state === "asking");
  return (
    <header class="head">
      <button type="button" class="icon-button only-narrow" aria-label="Sessions" onClick={() => menuOpen.value = true}><Icon name="menu" /></button>
      <div class="head-words">
        <h1 title={session.folder}><Name text={session.title === "" ? "New session" : session.title} most={120} /></h1>
        <p class="head-about"><StateWord state={ended ? "ended" : session.state} /> {session.tainted && <><span data-tainted="" title="The model was given text that may be anybody’s. Approvals in advance cover less from then on."><Tag tone="medium">outside text</Tag></span> </>}{row?.owner !== undefined && <span class="of-other">of <Name text={person(row.owner)} most={40} /></span>} <span class="wide-only"><Name text={session.folder} /></span><span class="narrow-only"><Name text={lastPart(session.folder)} /></span>{session.model !== "" && <span class="wide-only"> · <Name text={session.model} most={60} /></span>}</p>
      </div>
      <div class="head-acts">
        {busy && drives(row) && may("prompt", row) && <button type="button" data-act="interrupt" onClick={() => void attempt("interrupt", { session: session.id })}><Icon name="stop" /> <span class="wide-only">Stop</span><span class="sr narrow-only">Stop</span></button>}
        <button type="button" data-act="changes" aria-expanded={showChanges.value} onClick={() => showChanges.value = !showChanges.peek()}>
          <Icon name="changes" /> <span class="wide-only">Changes</span><span class="sr narrow-only">Changes</span>{staged > 0 && <span class="badge">{staged}<span class="sr"> staged files</span></span>}
        </button>
        <Menu label="More">
            {idle && <button type="button" data-act="again" onClick={() => void attempt("prompt", { session: session.id, again: true })}>Answer the last prompt again</button>}
            {idle && <button type="button" data-act="forget" onClick={() => void attempt("prompt", { session: session.id, forget: true })}>Take the last prompt back</button>}
            {!ended && own && may("prompt", row) && may("answer", row) && <SwitchButton />}
            {!ended && drives(row) && may("prompt", row) && <button type="button" data-act="restart" onClick={() => void attempt("restart", { session: session.id })}>Restart the interpreters</button>}
            {idle && <button type="button" data-act="replay" onClick={() => void attempt("restart", { session: session.id, replay: true })}>Restart them and run the code again</button>}
            {own && may("prompt", undefined) && <button type="button" data-act="fork" onClick={() => void enter("fork", { session: session.id })}>Fork this session</button>}
            {!ended && <GrantsButton />}
            {own && !ended && <ShareButton />}
            <button type="button" data-act="records" onClick={() => location.hash = `#/s/${encodeURIComponent(session.id)}/record`}>Show its record</button>
            {own && !ended && may("prompt", undefined) && <button type="button" data-act="close" onClick={() => void attempt("close", { session: session.id })}>End this session</button>}
        </Menu>
      </div>
    </header>
  );
}

export function StateWord({ state }: { state: keyof typeof STATES }): JSX.Element {
  return <span class={`state state-${state}`}><span class="state-dot" aria-hidden="true" />{STATES[state]}</span>;
}

function Over({ session }: { session: Session }): JSX.Element {
  const own = rows.value.get(session.id)?.owner === undefined;
  if (waitingIn(session.id) !== undefined) return <div class="over"><span class="muted">This session has ended, and its question still waits. With an answer it goes on as a new session.</span></div>;
  return (
    <div class="over">
      <span class="muted">{!own ? "This session has ended." : session.imported ? "This conversation comes from another program." : "This session has ended."}</span>
      {own && <button type="button" class="primary" data-act="resume" onClick={() => void enter("resume", { session: session.id })}>Continue</button>}
      {own && <button type="button" data-act="fork" onClick={() => void enter("fork", { session: session.id })}>Fork</button>}
    </div>
  );
}

/** The question of a session that has ended, if it can still be answered. */
function waitingIn(session: string): string | undefined {
  return inbox.value.find((one) => one.session === session)?.id;
}

/** The conversation. The newest entries are drawn first; older ones when they are wanted. */
function Entries({ session, rev, ended }: { session: Session; rev: number; ended: boolean }): JSX.Element {
  const [drawn, setDrawn] = useState(FIRST);
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const all = session.entries;
  const waits = ended ? waitingIn(session.id) : undefined;
  const from = Math.max(0, all.length - drawn);
  useLayoutEffect(() => {
    const element = box.current;
    if (element !== null && atEnd.current) element.scrollTop = element.scrollHeight;
  });
  const hasOpen = openQuestions(session).length > 0;
  return (
    <div ref={box} class="entries" tabIndex={0} role="log" aria-live="off" aria-label="Conversation" data-after={session.after}
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        atEnd.current = scrollHeight - scrollTop - clientHeight < 80;
      }}>
      <div class="column">
        {from > 0 && <button type="button" class="unfold" onClick={() => {
          const element = box.current;
          const before = element === null ? 0 : element.scrollHeight - element.scrollTop;
          setDrawn(drawn + MORE);
          requestAnimationFrame(() => {
            if (element !== null) element.scrollTop = element.scrollHeight - before;
          });
        }}>Show {count(Math.min(from, MORE), "earlier entry").replace("entrys", "entries")}</button>}
        {all.length === 0 && session.live === null && session.after > 0 && !ended && <Hello session={session} />}
        {all.slice(from).map((entry) => <EntryView key={entry.key} session={session.id} entry={entry} rev={entry.rev} ended={ended && !asks(entry, waits)} />)}
        {session.live !== null && !ended && <LiveView reply={session.live} rev={rev} />}
        {session.live === null && session.state === "thinking" && !ended && !hasOpen && <p class="thinking muted"><span class="pulse" aria-hidden="true" />{session.headway === "" ? "Thinking…" : <Foreign text={session.headway} />}</p>}
      </div>
    </div>
  );
}

/** Whether the question of this entry is the one that waits. */
function asks(entry: Entry, waits: string | undefined): boolean {
  return entry.type === "cell" && waits !== undefined && entry.asked?.question.id === waits;
}

function Hello({ session }: { session: Session }): JSX.Element {
  return (
    <div class="hello">
      <h2>What shall we do in <Name text={lastPart(session.folder)} most={40} />?</h2>
      <p class="muted">The model writes code, you see it before it runs, and nothing in the folder changes until you apply it.</p>
    </div>
  );
}

const EntryView = memo(
  ({ session, entry, rev, ended }: { session: string; entry: Entry; rev: number; ended: boolean }): JSX.Element => {
    switch (entry.type) {
      case "prompt":
        return (
          <article class="prompt" aria-label={entry.who === undefined || isMe(entry.who) ? "You" : `Prompt by ${person(entry.who)}`}>
            {entry.who !== undefined && entry.who !== "" && !isMe(entry.who) && <p class="who muted"><Name text={person(entry.who)} most={60} /></p>}
            <p class="prompt-text"><Foreign text={entry.text} /></p>
            {entry.attached.length > 0 && <p class="muted">With {entry.attached.map((name, at) => <span key={at}>{at > 0 ? ", " : ""}<Name text={name} most={80} /></span>)}</p>}
          </article>
        );
      case "reply":
        return (
          <article class="reply" aria-label="Reply">
            {entry.reasoning !== "" && <Thoughts text={entry.reasoning} />}
            {entry.text !== "" && <Prose text={entry.text} hidden={[...entry.codes]} />}
            {entry.finish === "length" && <p class="muted">The reply was cut off: it reached the model's limit.</p>}
          </article>
        );
      case "cell":
        return <CellView session={session} cell={entry} rev={entry.rev} ended={ended} />;
      case "question":
        return <QuestionCard session={session} asked={entry.asked} rev={rev} ended={ended} />;
      case "note":
        return entry.tone === "mark"
          ? <p class="mark"><span><Foreign text={entry.text} /></span></p>
          : <div class={`note note-${entry.tone}`} role={entry.tone === "error" ? "alert" : undefined}><p><Foreign text={entry.text} /></p>{entry.hint !== undefined && <p class="muted"><Foreign text={entry.hint} /></p>}</div>;
    }
  },
  (one, other) => one.entry === other.entry && one.rev === other.rev && one.session === other.session && one.ended === other.ended,
);

function Thoughts({ text }: { text: string }): JSX.Element {
  return <details class="thoughts"><summary>Thoughts</summary><Prose text={text} /></details>;
}

function LiveView({ reply }: { reply: LiveReply; rev: number }): JSX.Element {
  return (
    <article class="reply live" aria-label="Reply, being written" aria-busy="true">
      {reply.parts.map((part, at) =>
        part.kind === "text" ? <GrowingProse key={at} text={part.text} />
          : part.kind === "reasoning" ? <p key={at} class="thoughts-live muted"><Foreign text={part.text.slice(-400)} /></p>
            : <div key={at} class="source"><header class="source-head"><span class="source-name">{languageName(part.language ?? "code")}</span><span class="muted">being written</span></header><CodeLines code={part.text} language={part.language ?? ""} label="Code, being written" /></div>)}
    </article>
  );
}

/** Says what happens to people who do not see it. */
export function useAnnounced(session: Session | null): string {
  const [words, setWords] = useState("");
  const state = session?.state;
  const online = standing.value;
  useEffect(() => {
    if (online === "lost") setWords("The connection is lost. Trying again.");
    else if (state !== undefined) setWords(state === "idle" ? "Ready." : state === "ended" ? "The session has ended." : `${STATES[state]}.`);
  }, [state, online]);
  return words;
}
