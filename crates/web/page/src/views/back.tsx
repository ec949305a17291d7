//! Going back to before a cell: what it means, shown whole before it is decided on.
//!
//! The decision carries the hash of what stands on the card, so it counts for exactly that; what has
//! changed meanwhile is shown anew. A click that comes too early does nothing: see `guard.ts`.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { RequestFailed } from "../connection";
import { announcement, request, rows, tell } from "../store";
import { may } from "../who";
import type { FileChange } from "../wire";
import { count, languageName } from "../words";
import { Act } from "./card";
import { useGuard } from "./guard";
import { Foreign, Name } from "./text";

interface Beside {
  threads: number;
  sockets: number;
  files: number;
  programs: number;
}

interface Interpreter {
  language: string;
  from: "memory" | "cells" | "nothing";
  without?: Beside;
  count?: number;
}

interface Plan {
  cells: { id: string; language: string }[];
  prompt?: string;
  prompts: number;
  interpreters: Interpreter[];
  staged: "kept" | "not_staged" | { not_kept: { reason: string } };
  sent: string[];
  applied: FileChange[];
  applied_count: number;
  hosts: string[];
  programs: number;
  hash: string;
}

/** Files and hosts that are named; the rest is counted. */
const NAMED = 20;

export function GoingBack({ session, cell, onClose }: { session: string; cell: string; onClose: () => void }): JSX.Element {
  const card = useRef<HTMLElement>(null);
  const [plan, setPlan] = useState<Plan | null>(null);
  const [problem, setProblem] = useState("");
  const [undo, setUndo] = useState(false);
  const [busy, setBusy] = useState(false);
  const guard = useGuard(card, plan !== null);
  const show = () => request("rewind", { session, before: cell })
    .then((found) => setPlan(found as unknown as Plan))
    .catch((failed: unknown) => setProblem(failed instanceof RequestFailed ? failed.failure.message : String(failed)));
  useEffect(() => {
    void show();
  }, [session, cell]);
  useEffect(() => {
    if (plan === null) return;
    announcement.value = `Question: go back to before ${cell}?`;
    card.current?.scrollIntoView({ block: "nearest" });
    card.current?.focus({ preventScroll: true });
  }, [plan?.hash]);
  const go = async () => {
    if (plan === null) return;
    setBusy(true);
    try {
      await request("rewind", { session, before: cell, hash: plan.hash, ...(undo ? { undo } : {}) });
      onClose();
    } catch (failed) {
      setBusy(false);
      if (failed instanceof RequestFailed && failed.failure.code === "look_again") {
        setUndo(false);
        setPlan(null);
        void show();
      } else tell(failed instanceof RequestFailed ? failed.failure : { code: "failed", message: String(failed) });
    }
  };
  const title = `back-${cell}`;
  return (
    <section ref={card} class="card open back" tabIndex={-1} role="group" aria-labelledby={title} data-back={cell}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
      }}>
      <h2 class="card-title" id={title}>Go back to before this cell?</h2>
      {problem !== "" && <p class="problem" role="alert"><Foreign text={problem} /></p>}
      {plan === null ? problem === "" && <p class="muted">Looking…</p> : <Meaning plan={plan} />}
      {plan !== null && plan.applied.length > 0 && (
        <>
          <p>{count(plan.applied_count, "file")} applied to your folder since then:</p>
          <ul class="back-files">{plan.applied.slice(0, NAMED).map((file) => <li key={file.path}>{file.change} <Name text={file.path} most={120} /></li>)}</ul>
          {plan.applied_count > NAMED && <p class="muted">And {plan.applied_count - NAMED} more.</p>}
          {may("answer", rows.value.get(session)) && <label class="check"><input type="checkbox" checked={undo} onChange={(event) => setUndo(event.currentTarget.checked)} /> Undo that in your folder, too</label>}
        </>
      )}
      <div class="acts">
        <Act guard={guard} name="back" kind="primary" disabled={plan === null || busy} onAct={() => void go()}>Go back</Act>
        <button type="button" data-act="stay" onClick={onClose}>Stay</button>
      </div>
    </section>
  );
}

function Meaning({ plan }: { plan: Plan }): JSX.Element {
  const { cells, prompt, prompts, interpreters, staged, sent, hosts, programs } = plan;
  return (
    <>
      <p>{count(cells.length, "cell")} and everything said since will no longer count. The record keeps all of it.</p>
      {prompts > 1 && <p>{count(prompts, "prompt")} and the answers to them go with it.</p>}
      {prompt !== undefined && <p>The prompt of that cell: <span class="muted"><Foreign text={prompt.split("\n", 1)[0] ?? ""} /></span></p>}
      <ul class="back-how" aria-label="How it comes back">
        {interpreters.map((one) => <li key={one.language}>{languageName(one.language)}: {how(one)}</li>)}
        <li>Staged files: {staged === "kept" ? "as they were then" : staged === "not_staged" ? "not staged here, so they stay as they are" : <>stay as they are: <Foreign text={staged.not_kept.reason} /></>}</li>
        <li>Temporary files and the home inside: emptied</li>
      </ul>
      {sent.length > 0 && <p>No longer staged: {sent.slice(0, NAMED).map((path, at) => <span key={path}>{at > 0 ? ", " : ""}<Name text={path} most={120} /></span>)}{sent.length > NAMED ? ` and ${sent.length - NAMED} more` : ""}</p>}
      <p class="muted">Open files, sockets, pipes and running programs do not come back.</p>
      {programs > 0 && <p>{count(programs, "program")} left running by code will be ended.</p>}
      {hosts.length > 0 && <p>Not undone: it reached {hosts.slice(0, NAMED).map((host, at) => <span key={host}>{at > 0 ? ", " : ""}<Name text={host} most={80} /></span>)}{hosts.length > NAMED ? ` and ${hosts.length - NAMED} more` : ""}</p>}
    </>
  );
}

function how({ from, without, count: cells }: Interpreter): string {
  if (from === "nothing") return "starts afresh";
  if (from === "cells") return `by running ${count(cells ?? 0, "cell")} again, once you approve`;
  const { threads, sockets, files, programs } = without ?? { threads: 0, sockets: 0, files: 0, programs: 0 };
  const all: [number, string][] = [[threads, "thread"], [sockets, sockets === 1 ? "open socket or pipe" : "open sockets or pipe"], [files, "open file"], [programs, "running program"]];
  const gone = all.filter(([number]) => number > 0).map(([number, noun]) => count(number, noun));
  return gone.length === 0 ? "from memory" : `from memory, without ${gone.join(", ")}`;
}
