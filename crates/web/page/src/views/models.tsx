//! The models: the one in use, those of this program with their downloads, and providers.

import type { JSX } from "preact";
import type { Provider, Weights } from "../wire";
import { weights as live } from "../store";
import { size } from "../words";
import { Problem, useLooked, Words } from "./looked";
import { Foreign, Name, Tag } from "./text";
import { Top } from "./top";

const ROLES: { [role: string]: string } = { tiny: "the tiny one", trial: "only for trying things out" };

export function ModelsView(): JSX.Element {
  const looked = useLooked("models", true);
  const current = typeof looked.ok?.["current"] === "string" ? looked.ok["current"] : null;
  const embedded = looked.ok?.["embedded"] as { engine: boolean; models: Weights[] } | undefined;
  const all = (looked.ok?.["models"] ?? []) as Provider[];
  const ready = all.filter((one) => one.ready);
  const rest = all.filter((one) => !one.ready);
  const own = live.value ?? embedded?.models ?? [];
  return (
    <div class="talk">
      <Top title="Models"><button type="button" data-act="look-again" disabled={looked.busy} onClick={() => {
        live.value = null;
        looked.again();
      }}>Look again</button></Top>
      <div class="entries" tabIndex={0} role="group" aria-label="Models" aria-busy={looked.busy}>
        <div class="column">
          {looked.failure !== null && <Problem failure={looked.failure} />}
          {looked.ok === null && looked.busy && <p class="muted">Looking for models…</p>}
          {looked.ok !== null && (
            <>
              <section class="current-model">
                <h2 class="view-title">In use</h2>
                <p data-current={current ?? ""}>{current === null ? "None is set." : <code><Name text={current} most={200} /></code>}</p>
                <p class="muted">The setting <code>model</code> decides, for sessions that begin from now on.</p>
              </section>
              <section>
                <h2 class="view-title">In this program</h2>
                {embedded?.engine === false && <p class="muted">This program was built without the engine for them.</p>}
                <ul class="rows-list">{own.map((one) => <Own key={one.name} one={one} />)}</ul>
              </section>
              <section>
                <h2 class="view-title">Providers that are ready</h2>
                {ready.length === 0 && <p class="muted">None: no API key is set, and no local server responds.</p>}
                <ul class="rows-list">{ready.map((one) => <Place key={one.name} one={one} />)}</ul>
              </section>
              {rest.length > 0 && <details class="not-ready"><summary>Not ready ({rest.length})</summary><ul class="rows-list">{rest.map((one) => <Place key={one.name} one={one} />)}</ul></details>}
            </>
          )}
        </div>
      </div>
    </div>
  );
}

function Own({ one }: { one: Weights }): JSX.Element {
  const part = typeof one.part === "number" ? one.part : null;
  const name = `embedded/${one.name}`;
  return (
    <li class="model-row" data-model={one.name}>
      <p class="model-name"><code><Name text={name} /></code> <Tag {...(one.here ? { tone: "low" } : part !== null ? { tone: "medium" } : {})}>{one.here ? "Installed" : part !== null ? "Partly here" : "Not installed"}</Tag></p>
      <p class="muted"><Foreign text={one.title} />, {size(one.bytes)}{one.licence !== undefined && <>, <Foreign text={one.licence} /></>}{ROLES[one.role] !== undefined && `; ${ROLES[one.role]}`}</p>
      {part !== null && <p class="model-part"><progress max={one.bytes} value={part} aria-label={`Download of ${one.name}`} /> <span class="muted">{size(part)} of {size(one.bytes)}, {Math.floor(100 * part / one.bytes)}%</span></p>}
      {!one.here && <p class="muted"><code>interpreter model pull {one.name}</code> {part !== null ? "goes on with the download" : "downloads it"}.</p>}
    </li>
  );
}

function Place({ one }: { one: Provider }): JSX.Element {
  return (
    <li class="model-row" data-provider={one.name}>
      <p class="model-name"><code><Name text={one.name} /></code> <span class="muted"><Foreign text={one.title} /></span></p>
      {one.models.length > 0 && <p class="model-names">{[...new Set(one.models)].slice(0, 50).map((model) => <code key={model}><Name text={`${one.name}/${model}`} most={100} /></code>)}</p>}
      {one.missing !== undefined && <p class="muted"><Words text={one.missing} /></p>}
    </li>
  );
}
