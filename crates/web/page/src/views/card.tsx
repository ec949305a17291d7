//! The question whether code may run: the whole code, its findings, its bounds, and the answers.
//!
//! Nothing here approves by accident: see `guard.ts`. The answer carries the question's hash, so it
//! counts for exactly what stands on this card.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Asked } from "../model";
import { announcement, current, rows, you } from "../store";
import { may } from "../who";
import type { Question } from "../wire";
import { approvals, ask, closed, languageName, merged, reason as why, RISKS, whyNot } from "../words";
import { useAnswer } from "./answering";
import { CodeLines } from "./code";
import { Editing } from "./editing";
import { type Guard, useGuard } from "./guard";
import { Foreign, Tag } from "./text";

/** Whether the person is writing something, so that the focus stays. */
function isWriting(): boolean {
  const active = document.activeElement;
  if (active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement) return active.value !== "";
  return active !== null && (active.closest("[data-editor]") !== null || active.closest("[role=dialog]") !== null);
}

/** The frame of every question: takes the focus, announces itself, says how it was closed. */
export function Card({ asked, title, tone, onKey, children }: {
  asked: Asked;
  /** A key was pressed while the card, or something in it, had the focus. */
  onKey?: (event: KeyboardEvent, guard: Guard) => void;
  title: string;
  tone?: string;
  children: (guard: Guard) => ComponentChildren;
}): JSX.Element {
  const card = useRef<HTMLElement>(null);
  const guard = useGuard(card, asked.open);
  const mayAnswer = may("answer", rows.value.get(current.value ?? ""));
  const { id } = asked.question;
  useEffect(() => {
    if (!asked.open || card.current === null) return;
    announcement.value = `Question: ${title}`;
    card.current.scrollIntoView({ block: "nearest" });
    if (!isWriting()) card.current.focus({ preventScroll: true });
  }, [asked.open, id]);
  return (
    <section ref={card} class={`card ${asked.open ? "open" : "closed"} ${tone === undefined ? "" : `card-${tone}`}`} tabIndex={-1} role="group"
      onKeyDown={(event) => {
        if (asked.open) onKey?.(event, guard);
      }}
      aria-labelledby={`t-${id}`} data-question={id}>
      <h2 class="card-title" id={`t-${id}`}>{title}</h2>
      {asked.open && !mayAnswer && <p class="muted">It waits for somebody who may answer. You see what they see.</p>}
      {asked.open ? <fieldset disabled={!mayAnswer}>{children(guard)}</fieldset> : <p class="muted">{closed(asked.why ?? "", asked.by)}</p>}
    </section>
  );
}

/** A button of a card, which ignores everything that comes too early. */
export function Act({ guard, kind, disabled, onAct, children, name }: {
  guard: Guard;
  kind?: string;
  disabled?: boolean;
  onAct: () => void;
  children: ComponentChildren;
  name?: string;
}): JSX.Element {
  const [early, setEarly] = useState(false);
  return (
    <>
    <button type="button" class={kind ?? ""} disabled={disabled === true} data-act={name}
      onKeyDown={(event) => {
        if (event.repeat) event.preventDefault();
      }}
      onClick={(event) => {
        const isMeant = guard.allows(event);
        event.currentTarget.dataset["taken"] = isMeant ? "yes" : "no";
        setEarly(!isMeant);
        if (isMeant) onAct();
      }}>
      {children}
    </button>
    {early && <span class="early" role="status">That was quick. Once more, if you mean it.</span>}
    </>
  );
}

export function Risk({ question }: { question: Question }): JSX.Element | null {
  const risk = question.risk;
  if (risk === undefined || RISKS[risk] === undefined) return null;
  const all = merged(question.capabilities ?? []);
  return (
    <div class="risk">
      <p><Tag tone={risk}>{RISKS[risk].word}</Tag> <span class="muted">{RISKS[risk].words}</span></p>
      {all.length > 0 && (
        <ul class="deeds">
          {all.slice(0, 12).map((one) => (
            <li key={one.words}><span class={`dot dot-${one.severity}`} aria-hidden="true" /><span><bdi>{one.words}</bdi> <span class="muted">{lines(one.lines)}</span></span></li>
          ))}
          {all.length > 12 && <li class="muted">{all.length - 12} more beside the lines</li>}
        </ul>
      )}
    </div>
  );
}

function lines(all: number[]): string {
  return all.length === 1 ? `line ${all[0]}` : `lines ${all.slice(0, 5).join(", ")}${all.length > 5 ? " …" : ""}`;
}

function Bounds({ question }: { question: Question }): JSX.Element | null {
  const all = typeof question.confinement === "string" ? [question.confinement] : question.confinement ?? [];
  if (all.length === 0 && !question.rule) return null;
  return (
    <dl class="bounds">
      {all.length > 0 && <><dt>Where it runs</dt><dd>{all.map((line, at) => <span key={at} class="bound"><Foreign text={line} /></span>)}</dd></>}
      {question.rule && <><dt>Why you are asked</dt><dd><Foreign text={why(question.rule)} /></dd></>}
    </dl>
  );
}

/** Who has approved and who must, where one yes is not enough; and why yours would not count. */
export function Approvals({ asked, not }: { asked: Asked; not: string }): JSX.Element | null {
  const { quorum } = asked.question;
  if (quorum === undefined) return null;
  return (
    <p class="approvals" data-approvals={asked.approved.length} role="status">
      <bdi>{approvals(quorum, asked.approved)}</bdi>{not !== "" && <> <span class="muted">{not}</span></>}
    </p>
  );
}

/** The question about one piece of code. */
export function CodeCard({ session, asked }: { session: string; asked: Asked; rev: number }): JSX.Element {
  const { question } = asked;
  const answer = useAnswer(session, question);
  const [mode, setMode] = useState<"look" | "edit" | "reject" | "stand">("look");
  const [code, setCode] = useState(question.code ?? "");
  const [reason, setReason] = useState("");
  const language = question.language ?? "";
  const masked = question.masked ?? [];
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (mode === "reject") field.current?.focus();
  }, [mode]);
  const not = whyNot(question.quorum, asked.approved, you.value);
  const run = () => {
    if (not === "") answer.send({ decision: "run" });
  };
  const runEdited = () => (code === question.code ? run() : answer.send({ decision: "edit", code }));
  const reject = () => answer.send(reason.trim() === "" ? { decision: "reject" } : { decision: "reject", reason: reason.trim() });
  const key = (event: KeyboardEvent, guard: Guard) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      if (!guard.allows(event)) return;
      if (mode === "look") run();
      else if (mode === "edit") runEdited();
      else if (mode === "reject") reject();
    } else if (event.key === "Escape" && mode !== "look") {
      setMode("look");
    }
  };
  return (
    <Card asked={asked} title={question.edited === true ? `Run the edited ${languageName(language)}?` : ask(question)} tone={question.risk ?? "unknown"} onKey={key}>
      {(guard) => (
        <>
          {mode === "edit"
            ? <Editing code={code} language={language} onChange={setCode} />
            : <CodeLines code={question.code ?? ""} language={language} capabilities={question.capabilities ?? []} label={`Code to run, ${languageName(language)}`} />}
          {masked.length > 0 && <p class="muted" data-masked>{`The value of ${masked.join(" and ")} is masked here. Your answer is for this code alone.`}</p>}
          <Risk question={question} />
          <Bounds question={question} />
          <Approvals asked={asked} not={not} />
          {mode === "edit" && <p class="muted">Edited code is checked again, and you are asked once more.</p>}
          {answer.problem !== "" && <p class="problem" role="alert">{answer.problem}</p>}
          {mode === "reject" && (
            <label class="field">
              <span>Why not? With a reason the model tries again; without one it stops.</span>
              <textarea rows={2} value={reason} ref={field}
                onInput={(event) => setReason(event.currentTarget.value)} />
            </label>
          )}
          {mode === "stand" && <Standing question={question} guard={guard} sending={answer.sending} onChoose={(fields) => answer.send(fields)} />}
          <div class="acts">
            {mode === "edit"
              ? <Act guard={guard} kind="primary" name="run-edited" disabled={answer.sending || code.trim() === ""} onAct={runEdited}>Use this code</Act>
              : mode === "reject"
                ? <Act guard={guard} kind="danger" name="reject" disabled={answer.sending} onAct={reject}>Reject</Act>
                : <Act guard={guard} kind="primary" name="run" disabled={answer.sending || not !== ""} onAct={run}>{question.quorum === undefined ? "Run" : "Approve"}</Act>}
            {mode === "look" && (
              <>
                {masked.length === 0 && <button type="button" data-act="edit" onClick={() => setMode("edit")}>Edit</button>}
                <button type="button" data-act="reject-with" onClick={() => setMode("reject")}>Reject…</button>
                {question.may_stand === true && <button type="button" class="quiet" data-act="stand" onClick={() => setMode("stand")}>Ask less…</button>}
                <span class="hint muted"><kbd>Ctrl</kbd> <kbd>Enter</kbd> {question.quorum === undefined ? "runs" : "approves"} it</span>
              </>
            )}
            {mode !== "look" && <button type="button" class="quiet" onClick={() => setMode("look")}>Back</button>}
          </div>
        </>
      )}
    </Card>
  );
}

/** Narrow grants: code that does nothing that this code does not do. */
function Standing({ question, guard, sending, onChoose }: {
  question: Question;
  guard: Guard;
  sending: boolean;
  onChoose: (fields: { [field: string]: unknown }) => void;
}): JSX.Element {
  const language = languageName(question.language ?? "");
  const covers = "kind";
  const [isForGood, setForGood] = useState(false);
  return (
    <fieldset class="standing">
      <legend>Run this, and do not ask about {language} that only does the same</legend>
      {question.code_kind !== undefined && <p>Covered: <Foreign text={question.code_kind.words} />. The paths and other arguments may differ.</p>}
      <div class="acts">
        <Act guard={guard} disabled={sending} name="stand-turn" onAct={() => onChoose({ decision: "stand", span: "turn", covers })}>In this turn</Act>
        <Act guard={guard} disabled={sending} name="stand-session" onAct={() => onChoose({ decision: "stand", span: "session", covers })}>In this session</Act>
        {question.may_last === true && <button type="button" data-act="stand-for-good" aria-expanded={isForGood} onClick={() => setForGood(!isForGood)}>From now on…</button>}
      </div>
      {isForGood && (
        <>
          {question.lasting_rule !== undefined && <p>This rule goes into your settings: <Foreign text={question.lasting_rule} /></p>}
          <div class="acts">
            <Act guard={guard} kind="danger" disabled={sending} name="stand-always" onAct={() => onChoose({ decision: "stand", span: "always", covers })}>Add this rule</Act>
          </div>
        </>
      )}
      <p class="muted">Rules, edited code and higher risk are still asked about.</p>
    </fieldset>
  );
}
