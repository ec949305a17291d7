//! Whether the whole record is as it was written, and whether an anchor holds.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Verified } from "../wire";
import { count } from "../words";
import { Problem, useLooked } from "./looked";
import { Foreign, Name } from "./text";
import { Top } from "./top";

export function RecordView(): JSX.Element {
  const looked = useLooked("record", false);
  const [anchor, setAnchor] = useState("");
  const seen = looked.ok?.["record"] as Verified | undefined;
  return (
    <div class="talk">
      <Top title="Record" />
      <div class="entries" tabIndex={0} role="group" aria-label="Record" aria-busy={looked.busy}>
        <form class="column" onSubmit={(event) => {
          event.preventDefault();
          looked.again(anchor.trim() === "" ? {} : { anchor: anchor.trim() });
        }}>
          <p class="muted">Everything that happens in a session is recorded before it takes effect. Each record has the hash of the one before, and the newest of each session is signed. Verifying recomputes all of it, and the hash of every stored output.</p>
          <label class="field">
            <span>Anchor, if you kept one (a line of <code>interpreter audit anchor</code>)</span>
            <input class="mono" type="text" value={anchor} autocomplete="off" spellcheck={false} data-field="anchor" placeholder="interpreter-anchor-1 …" onInput={(event) => setAnchor(event.currentTarget.value)} />
          </label>
          <div class="acts"><button type="submit" class="primary" data-act="verify" disabled={looked.busy}>{looked.busy ? "Verifying…" : seen === undefined ? "Verify" : "Verify again"}</button></div>
          {looked.failure !== null && <Problem failure={looked.failure} />}
          {seen !== undefined && <Outcome seen={seen} />}
        </form>
      </div>
    </div>
  );
}

function Outcome({ seen }: { seen: Verified }): JSX.Element {
  const { outputs } = seen;
  const faults = seen.breaks.length + outputs.altered.length + outputs.removed.length + (typeof seen.missing === "string" ? 1 : 0) + (typeof seen.state === "string" ? 1 : 0);
  return (
    <section aria-label="Outcome">
      <p class={`verdict ${seen.whole ? "verdict-good" : "verdict-bad"}`} role="status" data-whole={String(seen.whole)}>
        {seen.whole ? "The record is whole." : faults > 0 ? "The record is not as it was written." : "The anchor does not hold."}
      </p>
      <ul class="facts">
        <li>{count(seen.records, "record")} in {count(seen.sessions, "session")}, all linked</li>
        {seen.breaks.map((one, at) => <li key={at} class="bad">Record {one.seq} of session <Name text={one.session} most={64} />: <Foreign text={one.why} /></li>)}
        {typeof seen.missing === "string" && <li class="bad"><Foreign text={seen.missing} /></li>}
        {typeof seen.state === "string" && <li class="bad"><Foreign text={seen.state} /></li>}
        {outputs.whole > 0 && <li>{count(outputs.whole, "stored output")}, all as recorded</li>}
        {outputs.pruned > 0 && <li>{count(outputs.pruned, "output")} removed to make room for newer ones, not checked</li>}
        {outputs.altered.map((one, at) => <li key={at} class="bad">The output of record {one.seq} of session <Name text={one.session} most={64} /> was changed after it was recorded</li>)}
        {outputs.removed.map((one, at) => <li key={at} class="bad">The output of record {one.seq} of session <Name text={one.session} most={64} /> was removed, but not by this program</li>)}
        {seen.removed > 0 && <li>{count(seen.removed, "session")} removed on purpose</li>}
        {seen.accepted.map((one, at) => <li key={at}>Accepted in session <Name text={one.session} most={64} />: <Foreign text={one.why} /></li>)}
        {seen.anchor != null && seen.anchor.holds && <li data-anchor="holds">The anchor holds: {count(seen.anchor.records, "record")} in {count(seen.anchor.sessions, "session")}, as they were</li>}
        {seen.anchor?.faults.map((one, at) => <li key={at} class="bad" data-anchor="broken">The anchor does not hold: <Foreign text={one} /></li>)}
      </ul>
      {!seen.whole && <p class="muted">Keep a copy of the data folder. <code>interpreter audit verify</code> says the same; nothing is repaired by looking.</p>}
    </section>
  );
}
