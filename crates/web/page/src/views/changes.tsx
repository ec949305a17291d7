//! The effects pane: files that would land, line by line, to choose, apply, discard, undo and redo.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RequestFailed } from "../connection";
import { openQuestions, type Session } from "../model";
import { showChanges, sideBySide, turnSides } from "../place";
import { stagedChanges } from "../staged";
import { attempt, rows } from "../store";
import type { Shown, ShownFile, ShownLeftOut } from "../wire";
import { may } from "../who";
import { applying, count, fileDetails, isNamed, whyApart } from "../words";
import { Hunk, Whole } from "./hunk";
import { Menu } from "./menu";
import { OutlineView } from "./outline";
import { SaveAll, SaveFile } from "./saving";
import { Foreign, Icon, Name, Tag } from "./text";

/** Files up to which each is listed before all are applied. */
const NAMED = 50;
/** Milliseconds after which the second click on all of many changes counts. */
const AGAIN = 500;

/** What is chosen: nothing of a file, all of it, or some hunks. */
type Choice = "none" | "all" | ReadonlySet<number>;

export function ChangesPane({ session, ended }: { session: Session; rev: number; ended: boolean }): JSX.Element {
  const [shown, setShown] = useState<Shown | null>(null);
  const [problem, setProblem] = useState("");
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const [busy, setBusy] = useState(false);
  // When all of many were wanted first: they are applied by another click, below what stands out.
  const [wanted, setWanted] = useState<number | null>(null);
  // The question that was open when the files were asked for: they are those that it is about.
  const [shownFor, setShownFor] = useState<string | undefined>(undefined);
  const load = () => {
    let isWanted = true;
    setWanted(null);
    stagedChanges(session.id).then((found) => {
      if (!isWanted) return;
      setShownFor(asked?.id);
      setProblem("");
      setShown(found);
      setChoices(new Map());
    }).catch((failed: unknown) => {
      if (!isWanted) return;
      setShown({ id: "", files: [], leftOut: [] });
      setProblem(failed instanceof RequestFailed && failed.failure.code !== "ended" ? failed.failure.message : "");
    });
    return () => {
      isWanted = false;
    };
  };
  // While a question about them is open, its answer decides on them.
  const asked = openQuestions(session).find((one) => one.question.about === "changes")?.question;
  useEffect(load, [session.id, session.effectsRev, asked?.id]);
  const perform = async (verb: string, fields: { [field: string]: unknown }) => {
    setBusy(true);
    await attempt(verb, { session: session.id, ...fields });
    setBusy(false);
    load();
  };
  const files = shown?.files ?? [];
  const choiceOf = (file: ShownFile): Choice => choices.get(file.path) ?? "all";
  const picked = files.filter((file) => choiceOf(file) !== "none");
  const isWhole = picked.length === files.length && files.every((file) => choiceOf(file) === "all");
  const outline = shown?.outline;
  const isMany = outline !== undefined && picked.length > NAMED;
  const leftOut = shown?.leftOut ?? [];
  const isCurrent = shownFor === asked?.id;
  const decide = (fields: { [field: string]: unknown }) =>
    asked === undefined
      ? perform("apply", { changes: shown?.id ?? "", ...fields })
      : perform("answer", { question: asked.id, hash: asked.hash, decision: "apply", ...fields });
  const apply = () => {
    const fields: { [field: string]: unknown } = {};
    if (!isWhole) {
      fields["picks"] = picked.map((file) => {
        const choice = choiceOf(file);
        return choice === "all" || choice === "none" ? { path: file.path } : { path: file.path, hunks: [...choice].sort((one, other) => one - other) };
      });
    }
    if (isMany) fields["seen"] = outline.hash;
    void decide(fields);
  };
  const want = () => isMany ? setWanted(performance.now()) : apply();
  const mayChange = may("change", rows.value.get(session.id));
  const choose = (file: ShownFile, choice: Choice) => setChoices(new Map(choices).set(file.path, choice));
  return (
    <aside class="changes" aria-label="Changes">
      <header class="changes-head">
        <h2>Changes</h2>
        {files.some((file) => file.change !== "created" && file.change !== "deleted") && <button type="button" class="quiet wide-only" aria-pressed={sideBySide.value} onClick={turnSides}>Side by side</button>}
        {!ended && (files.length > 0 || session.applied > 0) && <Menu label="Save files"><SaveAll session={session.id} staged={files.length > 0} applied={session.applied > 0} /></Menu>}
        <button type="button" class="icon-button" aria-label="Close the changes" onClick={() => showChanges.value = false}><Icon name="close" /></button>
      </header>
      <div class="changes-body" tabIndex={0} role="group" aria-label="Files">
        {shown === null && <p class="muted">Looking…</p>}
        {problem !== "" && <p class="problem" role="alert"><Foreign text={problem} /></p>}
        {shown !== null && files.length === 0 && <p class="muted">Nothing is staged. Files that code changes appear here first, and your folder stays as it is until you apply them.</p>}
        {leftOut.some((one) => whyApart(one.masked) === "") && (
          <ul class="left-out" aria-label="Left out">{leftOut.filter((one) => whyApart(one.masked) === "").map((one) => <li key={one.path}><Name text={one.path} most={120} /> <span class="muted"><Foreign text={one.why} /></span></li>)}</ul>
        )}
        {isMany && wanted !== null && (
          <section class="many" aria-label="What stands out">
            <h3>What stands out</h3>
            <OutlineView heading="h4" outline={outline} files={picked} />
            <div class="acts">
              <button type="button" data-act="back" onClick={() => setWanted(null)}>Back</button>
              <button type="button" class="primary" data-act="apply-all" disabled={busy || !isCurrent} onClick={() => performance.now() - wanted > AGAIN && apply()}>{applying(`Apply all ${count(picked.length, "file")}`, leftOut.length)}</button>
            </div>
          </section>
        )}
        {!(isMany && wanted !== null) && files.map((file) => <FileView key={file.path} session={ended ? null : session.id} file={file} choice={choiceOf(file)} onChoose={(choice) => choose(file, choice)} />)}
        {!(isMany && wanted !== null) && leftOut.filter((one) => whyApart(one.masked) !== "").map((one) => (
          <ApartView key={one.path} one={one}>
            {mayChange && <button type="button" data-act="apply-apart" disabled={busy || !isCurrent} onClick={() => void decide({ picks: [{ path: one.path }] })}>Apply this file</button>}
          </ApartView>
        ))}
      </div>
      {mayChange && <footer class="changes-acts">
        {files.length > 0 && (
          <>
            <button type="button" class="primary" data-act="apply" disabled={busy || !isCurrent || picked.length === 0 || (isMany && wanted !== null)} onClick={want}>{isWhole ? applying(`Apply ${count(files.length, "file")}`, leftOut.length) : "Apply selection"}{isMany && "…"}</button>
            <button type="button" class="danger" data-act="discard" disabled={busy || picked.length === 0}
              onClick={() => void perform("discard", { changes: shown?.id ?? "", ...(picked.length === files.length ? {} : { paths: picked.map((file) => file.path) }) })}>Discard</button>
          </>
        )}
        <span class="spring" />
        <button type="button" data-act="undo" disabled={busy || session.changes === null || session.changes.state !== "applied"} onClick={() => void perform("undo", { newest: session.newest })}>Undo</button>
        <button type="button" data-act="redo" disabled={busy || session.changes === null || session.changes.state !== "undone"} onClick={() => void perform("undo", { newest: session.newest, redo: true })}>Redo</button>
      </footer>}
    </aside>
  );
}

/** A file in which a value is masked: nobody sees all of it, so it is applied only by its own button. */
function ApartView({ one, children }: { one: ShownLeftOut; children: ComponentChildren }): JSX.Element {
  return (
    <section class="file apart" data-apart={one.path}>
      <h3 class="file-head"><span class="file-name"><Name text={one.path} /></span> <Tag tone="medium">partly masked</Tag></h3>
      <p class="file-about">{whyApart(one.masked)}{!isNamed(one.path, one.masked) && " Its name has the value too, so it can be applied at a terminal only."}</p>
      {one.shown.map((hunk) => <div key={hunk.number} class="hunk"><Hunk lines={hunk.lines} sides={false} /></div>)}
      {one.shown.length === 0 && <Whole head={one.head ?? ""} sides={false} />}
      {isNamed(one.path, one.masked) && <div class="acts">{children}</div>}
    </section>
  );
}

function FileView({ session, file, choice, onChoose }: { session: string | null; file: ShownFile; choice: Choice; onChoose: (choice: Choice) => void }): JSX.Element {
  const [open, setOpen] = useState(true);
  const numbers = file.shown.map((hunk) => hunk.number);
  const toggle = (number: number) => {
    const now = new Set(choice === "all" ? numbers : choice === "none" ? [] : choice);
    if (!now.delete(number)) now.add(number);
    onChoose(now.size === 0 ? "none" : now.size === numbers.length ? "all" : now);
  };
  const has = (number: number) => choice === "all" || (choice !== "none" && choice.has(number));
  const id = `f-${file.path}`;
  // A new file has no other side.
  const sides = sideBySide.value && file.change !== "created" && file.change !== "deleted";
  return (
    <section class="file" data-file={file.path}>
      <h3 class="file-head">
        <input type="checkbox" id={id} checked={choice !== "none"} ref={(box) => {
          if (box !== null) box.indeterminate = choice !== "all" && choice !== "none";
        }} onChange={() => onChoose(choice === "none" ? "all" : "none")} />
        <label for={id}>{file.from !== undefined && <><Name text={file.from} /> → </>}<Name text={file.path} /></label>
        <Tag tone={file.change}>{file.change}</Tag>
        {session !== null && file.change !== "deleted" && <SaveFile session={session} path={file.path} label={`Save ${file.path}`}><Icon name="save" /></SaveFile>}
        {file.shown.length > 0 && <button type="button" class={`icon-button fold ${open ? "is-open" : ""}`} aria-expanded={open} aria-label="Lines" onClick={() => setOpen(!open)}><Icon name="fold" /></button>}
      </h3>
      {fileDetails(file).length > 0 && <p class={file.runs_later !== undefined || file.executable === true ? "bad file-about" : "muted file-about"}>{fileDetails(file).join(" · ")}</p>}
      {open && file.shown.map((hunk) => (
        <div key={hunk.number} class={`hunk ${has(hunk.number) ? "" : "left"}`}>
          {file.shown.length > 1 && <label class="hunk-choice"><input type="checkbox" checked={has(hunk.number)} onChange={() => toggle(hunk.number)} /> Part {hunk.number} of {file.shown.length}</label>}
          <Hunk lines={hunk.lines} sides={sides} />
        </div>
      ))}
      {file.shown.length === 0 && file.holds === undefined && <Whole head={file.head ?? ""} sides={sides} />}
    </section>
  );
}
