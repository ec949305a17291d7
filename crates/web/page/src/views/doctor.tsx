//! Whether this machine is ready: the problems first, each with the next step.

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Examined, Finding } from "../wire";
import { count } from "../words";
import { Problem, useLooked, Words } from "./looked";
import { Foreign, Tag } from "./text";
import { Top } from "./top";

/** The last examination of this tab. */
const last = signal<Examined | null>(null);

const STATE: { [state: string]: { word: string; tone: string } } = {
  good: { word: "OK", tone: "low" }, lacking: { word: "Missing", tone: "medium" }, broken: { word: "Broken", tone: "high" },
};

export function DoctorView(): JSX.Element {
  const looked = useLooked("doctor", false);
  const found = looked.ok?.["doctor"] as Examined | undefined;
  useEffect(() => {
    if (found !== undefined) last.value = found;
  }, [found]);
  const seen = last.value;
  const rest = seen === null ? [] : seen.rows.filter((row) => !seen.problems.some((one) => one.name === row.name && one.detail === row.detail));
  return (
    <div class="talk">
      <Top title="Doctor"><button type="button" class={seen === null ? "primary" : ""} data-act="examine" disabled={looked.busy} onClick={() => looked.again()}>{looked.busy ? "Examining…" : seen === null ? "Examine" : "Examine again"}</button></Top>
      <div class="entries" tabIndex={0} role="group" aria-label="Doctor" aria-busy={looked.busy}>
        <div class="column">
          {looked.failure !== null && <Problem failure={looked.failure} />}
          {seen === null && <p class="muted">Builds every sandbox that this machine can have, attacks it from inside and removes it; opens the record, and looks for interpreters and the model. Nobody's code runs. It takes a few seconds.</p>}
          {seen !== null && (
            <>
              <p class={`verdict ${seen.ready ? "verdict-good" : "verdict-bad"}`} role="status" data-ready={String(seen.ready)}><Foreign text={seen.verdict} /></p>
              {seen.problems.length > 0 && <section><h2 class="view-title">{seen.ready ? "Could be better" : "Wrong"}</h2><Findings all={seen.problems} /></section>}
              <section><h2 class="view-title">Checked ({count(rest.length, "thing")})</h2><Findings all={rest} /></section>
            </>
          )}
        </div>
      </div>
    </div>
  );
}

function Findings({ all }: { all: Finding[] }): JSX.Element {
  return (
    <ul class="findings-list">
      {all.map((one, at) => (
        <li key={at} class={`finding-row finding-${one.state}`} data-finding={one.name}>
          <p class="finding-name"><strong><Foreign text={one.name} /></strong> <Tag tone={STATE[one.state]?.tone ?? ""}>{STATE[one.state]?.word ?? one.state}</Tag></p>
          <p class="finding-detail"><Words text={one.detail} /></p>
          {typeof one.fix === "string" && <p class="finding-fix"><span class="muted">Next step: </span><Words text={one.fix} /></p>}
        </li>
      ))}
    </ul>
  );
}
